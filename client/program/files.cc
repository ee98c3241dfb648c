// The commands on files of this machine: extract, validate and toolchains. They need no cluster.

#include <memory>
#include <string>
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

void AddToolchains(CommandLine& line) {
  const auto folder = std::make_shared<std::string>(compiler::LocalToolchainsFolder());
  CLI::App* sub =
      line.Add("toolchains", "list the compilers that jobs can use, and which are installed",
               [folder](Console& console) { return ListToolchains(*folder, console); });
  TakesFolder(sub->add_option("--toolchains", *folder, "folder of the installed toolchains"))
      ->envname("KERNELMILL_TOOLCHAINS")
      ->capture_default_str();
  line.AddCommonFlags(*sub);
}

}  // namespace

void AddFileCommands(CommandLine& line) {
  AddOnFiles(line, "extract", "list the kernels in files and folders", ExtractFiles);
  AddOnFiles(line, "validate",
             "check the kernels in files and folders; exit code 1 if any is rejected",
             ValidateFiles);
  AddToolchains(line);
}

}  // namespace kernelmill::client
