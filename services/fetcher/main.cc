// kernelmill-fetcher: the worker that pins and fetches sources.
#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/flags/server_flags.h"
#include "common/version/version.h"
#include "common/worker/process/worker_process.h"
#include "services/fetcher/adapters/http/host_policy.h"
#include "services/fetcher/server/fetcher_stages.h"

int main(int argc, char** argv) {
  kernelmill::flags::ServerFlags server;
  server.version = kernelmill::Version();
  server.listen = "127.0.0.1:7072";
  server.metrics = "127.0.0.1:8072";
  kernelmill::flags::WorkerFlags worker;
  worker.slots = 2;  // one host never gets both
  kernelmill::fetcher::FetcherOptions options;
  CLI::App app(
      "Finds and fetches repositories, packages and local trees, as a worker of a coordinator.",
      "kernelmill-fetcher");
  kernelmill::flags::AddServerFlags(app, &server);
  kernelmill::flags::AddWorkerFlags(app, &worker);
  std::vector<std::string> local;
  app.add_option("--allow-local", local,
                 "folders of this machine that sources may be in (paths, file:// URLs and local "
                 "git repositories); separated by ':'")
      ->envname("KERNELMILL_ALLOW_LOCAL")
      ->delimiter(':')
      ->check(CLI::ExistingDirectory);
  kernelmill::fetcher::HostPolicy::Rules hosts;
  app.add_option("--allow-hosts", hosts.allow_hosts,
                 "the only hosts that sources may have, separated by ',': names, *.DOMAIN, "
                 "addresses and networks (10.0.0.0/8) (default: all with public addresses)")
      ->envname("KERNELMILL_ALLOW_HOSTS")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check([](const std::string& entry) {
        return std::string(kernelmill::fetcher::HostPolicy::Create({{entry}}).status().message());
      });
  app.add_flag("--allow-private", hosts.allow_private,
               "allow hosts with loopback and private addresses")
      ->envname("KERNELMILL_ALLOW_PRIVATE");
  app.add_option("--package-index", options.package_index,
                 "URL of the simple package index (default: what pip would use)")
      ->envname("KERNELMILL_PACKAGE_INDEX");
  app.add_option("--github-api", options.github_api, "URL of GitHub's REST API, for searches")
      ->envname("KERNELMILL_GITHUB_API")
      ->capture_default_str();
  app.add_option("--github-token-file", options.github_token_file,
                 "file with a token for GitHub's REST API; code search needs one (default: none)")
      ->envname("KERNELMILL_GITHUB_TOKEN_FILE")
      ->check(CLI::ExistingFile);
  app.add_option(
         "--temp-dir", options.temp_dir,
         "folder for temporary repositories and wheels (default: the system's temporary folder)")
      ->envname("KERNELMILL_TEMP_DIR")
      ->check(CLI::ExistingDirectory);
  double timeout = absl::ToDoubleSeconds(options.command_timeout);
  app.add_option("--command-timeout-seconds", timeout,
                 "time limit of one git command, download or search")
      ->envname("KERNELMILL_COMMAND_TIMEOUT_SECONDS")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  app.add_option("--lowest-rate", options.rate.bytes_per_second,
                 "bytes a second that a host must send of a repository or package; a slower "
                 "transfer is given up; 0 for no limit")
      ->envname("KERNELMILL_LOWEST_RATE")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  double window = absl::ToDoubleSeconds(options.rate.window);
  app.add_option("--rate-window-seconds", window, "time over which that rate is averaged")
      ->envname("KERNELMILL_RATE_WINDOW_SECONDS")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
  if (const auto exit_status = kernelmill::flags::ParseFlags(app, argc, argv)) return *exit_status;
  options.local = kernelmill::fetcher::LocalFolders(std::move(local));
  options.hosts = *kernelmill::fetcher::HostPolicy::Create(hosts);  // each entry was checked
  options.command_timeout = absl::Seconds(timeout);
  options.rate.window = absl::Seconds(window);
  return kernelmill::worker::RunWorkerProcess(server, worker,
                                              kernelmill::fetcher::NewFetcherStages(options), {});
}
