// The commands about the commands: help and completion. Both are made of the table that the parser
// has, so that nothing can be missing in them.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/console/exit_code.h"
#include "client/program/command_line.h"
#include "client/program/command_table.h"
#include "common/version/version.h"

namespace kernelmill::client {
namespace {

struct HelpOptions {
  std::vector<std::string> command;
  bool man = false;
};

absl::StatusOr<int> Help(const CommandLine& line, const HelpOptions& options, Console& console) {
  if (options.man) {
    console.Result(ManualPage(line.Table(), Version(), CommandLine::Description()));
  } else if (console.json()) {
    console.Result(CommandsJson(line.Table()));
  } else {
    absl::StatusOr<std::string> help = line.HelpFor(options.command);
    if (!help.ok()) return help.status();
    console.Result(*help);
  }
  return kDone;
}

void AddHelp(CommandLine& line) {
  const auto options = std::make_shared<HelpOptions>();
  CLI::App* sub =
      line.Add("help", "show the help of a command, or of the program",
               [&line, options](Console& console) { return Help(line, *options, console); });
  sub->add_option("COMMAND", options->command, "the command, such as crawl, or store gc");
  sub->add_flag("--man", options->man, "write the manual page of all commands, for man");
  line.AddCommonFlags(*sub);
}

void AddCompletion(CommandLine& line) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* sub = line.Add("completion", "write a script with which a shell completes commands",
                           [&line, shell](Console& console) -> absl::StatusOr<int> {
                             console.Result(CompletionScript(line.Table(), *shell));
                             return kDone;
                           });
  sub->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  line.AddCommonFlags(*sub);
}

}  // namespace

void AddHelpCommands(CommandLine& line) {
  AddHelp(line);
  AddCompletion(line);
}

}  // namespace kernelmill::client
