#include "client/program/program.h"

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/commands/console.h"
#include "client/console/exit_code.h"
#include "client/program/command_line.h"
#include "client/program/groups.h"

namespace kernelmill::client {

int RunProgram(int argc, char** argv, rpc::TerminationSignal& signal) {
  CommandLine line(signal);
  AddCrawl(line);
  AddJobCommands(line);
  AddDatasetCommands(line);
  AddFileCommands(line);
  AddStoreCommands(line);
  const absl::StatusOr<std::optional<int>> ended = line.Parse(argc, argv);
  Console console(line.json());
  if (!ended.ok()) return console.Fail(ended.status());
  if (ended->has_value()) return **ended;
  const absl::StatusOr<int> code = line.Run(console);
  if (!code.ok()) {
    const int exit_code = console.Fail(code.status());
    const std::string hint = line.Hint();
    if (exit_code == kOutOfReach && !hint.empty()) console.Note(hint);
    return exit_code;
  }
  const absl::Status written = console.Flush();
  return written.ok() ? *code : console.Fail(written);
}

}  // namespace kernelmill::client
