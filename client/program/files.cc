// The commands on files of this machine: init, extract, validate, toolchains and cache. They need
// no cluster.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/commands/commands.h"
#include "client/program/command_line.h"
#include "services/compiler/server/local_compiler.h"

namespace kernelmill::client {
namespace {

void AddOnFiles(CommandLine& line, const char* name, const char* help,
                absl::StatusOr<int> (*run)(const std::vector<std::string>&, Console&)) {
  const auto paths = std::make_shared<std::vector<std::string>>();
  CLI::App* sub =
      line.Add(name, help, [paths, run](Console& console) { return run(*paths, console); });
  TakesFile(sub->add_option("PATH", *paths, "Python files or folders"))->required();
  line.AddCommonFlags(*sub);
}

void AddInit(CommandLine& line) {
  const auto options = std::make_shared<InitOptions>();
  CLI::App* sub = line.Add(
      "init", "write a job file to start from",
      [&line, options](Console& console) { return Init(*options, line.signal(), console); });
  TakesFile(sub->add_option("FILE", options->file, "the job file to write"))->capture_default_str();
  sub->add_option("--repository", options->repositories,
                  "owner/name at GitHub, or a URL; may be repeated")
      ->allow_extra_args(false);
  sub->add_option("--package", options->packages, "a wheel, name==version; may be repeated")
      ->allow_extra_args(false);
  TakesFolder(sub->add_option("--folder", options->folders,
                              "a folder, relative to the job file; may be repeated"))
      ->allow_extra_args(false);
  TakesWord(sub->add_option("--language", options->languages,
                            "read files of this language; may be repeated (default: triton)"),
            {"triton", "gluon", "pallas", "cuda", "hip"})
      ->allow_extra_args(false);
  sub->add_option("--name", options->name, "the job's name (default: made from the first source)");
  TakesFolder(sub->add_option("--out", options->out_dir,
                              "folder of the dataset, for the next command (default: the name)"));
  sub->add_flag("--force", options->force, "replace the file if it exists");
  line.AddCommonFlags(*sub);
}

void AddCache(CommandLine& line) {
  const auto data_dir = std::make_shared<std::string>(DefaultDataDir());
  CLI::App* cache = line.AddGroup("cache", "look after the data folder of crawls");
  const auto add = [&](const char* name, const char* help, Command command) {
    CLI::App* sub = line.AddTo(cache, name, help, std::move(command));
    TakesFolder(sub->add_option("--data", *data_dir, "the crawls' --data folder"))
        ->envname("KERNELMILL_DATA")
        ->capture_default_str();
    line.AddCommonFlags(*sub);
    return sub;
  };
  add("size", "show what the folder takes on the disk",
      [data_dir](Console& console) { return CacheSize(*data_dir, console); });

  const auto limit = std::make_shared<int64_t>(0);
  add("prune", "drop the least recently used results",
      [&line, data_dir, limit](Console& console) {
        return CachePrune(*data_dir, *limit, line.signal(), console);
      })
      ->add_option("--limit-bytes", *limit, "the most that the store may take, e.g. 20GB")
      ->required()
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->check(CLI::NonNegativeNumber)
      ->option_text("SIZE REQUIRED");

  const auto yes = std::make_shared<bool>(false);
  add("clear", "delete the results; the next crawl starts cold",
      [&line, data_dir, yes](Console& console) {
        return CacheClear(*data_dir, *yes, line.signal(), console);
      })
      ->add_flag("--yes", *yes, "do not ask");
}

void AddToolchains(CommandLine& line) {
  const auto folder = std::make_shared<std::string>(compiler::LocalToolchainsFolder());
  const auto install = std::make_shared<bool>(false);
  CLI::App* sub =
      line.Add("toolchains", "list the compilers that jobs can use, and which are installed",
               [folder, install](Console& console) {
                 return *install ? InstallToolchains(*folder) : ListToolchains(*folder, console);
               });
  sub->add_flag("--install", *install,
                "install the missing ones from the package index of pip: some 1 GB each, by hash");
  TakesFolder(sub->add_option("--toolchains", *folder, "folder of the installed toolchains"))
      ->envname("KERNELMILL_TOOLCHAINS")
      ->capture_default_str();
  line.AddCommonFlags(*sub);
}

}  // namespace

void AddFileCommands(CommandLine& line) {
  AddInit(line);
  AddOnFiles(line, "extract", "list the kernels in files and folders", ExtractFiles);
  AddOnFiles(line, "validate",
             "check the kernels in files and folders; exit code 1 if any is rejected",
             ValidateFiles);
  AddToolchains(line);
  AddCache(line);
}

}  // namespace kernelmill::client
