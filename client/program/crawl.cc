// The command `crawl`, and the flags that it shares with other commands.

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "client/commands/commands.h"
#include "client/program/command_line.h"
#include "services/compiler/server/local_compiler.h"

namespace kernelmill::client {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

// The order: KERNELMILL_DATA, the user's cache folder, and without a home a folder in the current
// one.
std::string DefaultDataDir() {
  std::string data = Environment("KERNELMILL_DATA");
  if (!data.empty()) return data;
  const std::string cache = Environment("XDG_CACHE_HOME");
  if (!cache.empty()) return cache + "/kernelmill";
  const std::string home = Environment("HOME");
  return home.empty() ? "kernelmill.data" : home + "/.cache/kernelmill";
}

void AddTrace(CLI::App& command, std::string* file) {
  TakesFile(command.add_option(
      "--trace", *file,
      "write a task timeline to this file: trace events (JSON) for Perfetto and\n"
      "Chrome"));
}

void AddCompilerFlags(CLI::App& command, EmbeddedCompilerOptions& options) {
  options.folder = compiler::LocalToolchainsFolder();
  TakesFolder(
      command.add_option("--toolchains", options.folder, "folder of the installed toolchains"))
      ->envname("KERNELMILL_TOOLCHAINS")
      ->capture_default_str();
  command
      .add_flag("--unsafe-no-sandbox", options.unsafe_no_sandbox,
                "run untrusted code without a sandbox, as this user")
      ->envname("KERNELMILL_UNSAFE_NO_SANDBOX");
}

void AddHostFlags(CLI::App& command, HostOptions& options) {
  command
      .add_option("--allow-hosts", options.allow_hosts,
                  "the only hosts that sources may have, separated by ',': names, *.DOMAIN, "
                  "addresses and networks (default: all)")
      ->envname("KERNELMILL_ALLOW_HOSTS")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--package-index", options.package_index,
                  "index of Python packages (default: pip's)")
      ->envname("KERNELMILL_PACKAGE_INDEX");
  command
      .add_option("--github-api", options.github_api,
                  "URL of the REST API for searches (default: GitHub's)")
      ->envname("KERNELMILL_GITHUB_API");
  command
      .add_option("--github-token-file", options.github_token_file,
                  "file with a token for the REST API; code search requires one (default: none)")
      ->envname("KERNELMILL_GITHUB_TOKEN_FILE")
      ->check(CLI::ExistingFile);
}

// Takes no address of a cluster: the command has its own.
void AddCrawl(CommandLine& line) {
  const auto options = std::make_shared<CrawlOptions>();
  CLI::App* sub = line.Add(
      "crawl", "run a job in this process and write its dataset",
      [&line, options](Console& console) -> absl::StatusOr<int> {
        if (options->target.out_dir.empty() && !options->dry_run) {
          return absl::InvalidArgumentError("--out is required; see kernelmill crawl --help");
        }
        options->runner.unsafe_no_sandbox = options->compiler.unsafe_no_sandbox;
        return Crawl(*options, line.signal(), console);
      });
  options->data_dir = DefaultDataDir();
  options->workers = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  TakesFile(sub->add_option("JOB.yaml", options->job_file, "job file; -: standard input"))
      ->required();
  TakesFolder(sub->add_option("--out", options->target.out_dir,
                              "folder to write the dataset to; required without --dry-run"));
  AddExportFlags(*sub, options->target);
  TakesFolder(
      sub->add_option("--data", options->data_dir, "folder that keeps results for the next run"))
      ->envname("KERNELMILL_DATA")
      ->capture_default_str();
  sub->add_option("--workers", options->workers, "number of tasks that run at once")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  AddHostFlags(*sub, *options);
  sub->add_flag("--dry-run", options->dry_run,
                "print each source with its version, its size if it is known, and if the cache has "
                "it; fetch nothing");
  sub->add_flag("--no-cache", options->no_cache,
                "run every stage again and replace its results in the action cache");
  AddTrace(*sub, &options->trace);
  AddCompilerFlags(*sub, options->compiler);
  options->runner.python = "python3";
  sub->add_option("--python", options->runner.python,
                  "Python that runs the kernels of a job with run: with Triton, and the module of "
                  "kernelmill's wheel with its extra run")
      ->envname("KERNELMILL_PYTHON")
      ->capture_default_str();
  line.AddCommonFlags(*sub);
}

}  // namespace kernelmill::client
