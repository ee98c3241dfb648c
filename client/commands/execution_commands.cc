// The commands record, run, capture and export-tasks. The Python module of the wheel does the work
// (python/kernelmill/execution, capture and tasks): kernels and models are Python, and so is all
// that launches them.

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "client/commands/commands.h"
#include "client/commands/python_command.h"

namespace kernelmill::client {
namespace {

absl::Status BecomeExecution(const std::string& command, const nlohmann::json& options) {
  return BecomePython(command, "kernelmill.execution.command",
                      "module.command('" + command + "', sys.argv[1])",
                      options.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

}  // namespace

absl::Status Record(const RecordOptions& options, const Console& console) {
  return BecomeExecution("record", {{"dataset", options.dataset},
                                    {"repository", options.repositories},
                                    {"evidence", options.evidence},
                                    {"device", options.device},
                                    {"tests", options.tests},
                                    {"pytest_argument", options.pytest_arguments},
                                    {"python", options.python},
                                    {"lock", options.lock},
                                    {"logs", options.logs},
                                    {"seconds", options.seconds},
                                    {"test_seconds", options.test_seconds},
                                    {"cases", options.cases},
                                    {"case_bytes", options.case_bytes},
                                    {"unsafe_no_container", options.unsafe_no_container},
                                    {"json", console.json()}});
}

absl::Status RunKernels(const RunOptions& options, const Console& console) {
  return BecomeExecution("run", {{"dataset", options.dataset},
                                 {"evidence", options.evidence},
                                 {"device", options.device},
                                 {"python", options.python},
                                 {"workers", options.workers},
                                 {"mutants", options.mutants},
                                 {"threshold", options.threshold},
                                 {"made", options.made},
                                 {"speed", options.speed},
                                 {"changes", options.changes},
                                 {"deadline", options.deadline},
                                 {"case_seconds", options.case_seconds},
                                 {"kernel", options.kernels},
                                 {"bundle", options.bundle},
                                 {"merge", options.merge},
                                 {"unsafe_no_sandbox", options.unsafe_no_sandbox},
                                 {"json", console.json()}});
}

absl::Status Capture(const CaptureOptions& options, const Console& console) {
  const nlohmann::json given = {{"model", options.models},
                                {"list", options.list},
                                {"from", options.from},
                                {"out", options.out},
                                {"device", options.device},
                                {"mode", options.mode},
                                {"dtype", options.dtype},
                                {"license", options.license},
                                {"batch", options.batch},
                                {"length", options.length},
                                {"workers", options.workers},
                                {"seconds", options.seconds},
                                {"memory", options.memory},
                                {"deadline", options.deadline},
                                {"most", options.most},
                                {"dynamic", options.dynamic},
                                {"autotune", options.autotune},
                                {"check", options.check},
                                {"unsafe_no_container", options.unsafe_no_container},
                                {"json", console.json()}};
  return BecomePython("capture", "kernelmill.capture.command", "module.command(sys.argv[1])",
                      given.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

absl::Status ExportTasks(const ExportTasksOptions& options, const Console& console) {
  const nlohmann::json given = {{"dataset", options.dataset},
                                {"format", options.format},
                                {"out", options.out},
                                {"evidence", options.evidence},
                                {"python", options.python},
                                {"verified", options.verified},
                                {"task_bytes", options.task_bytes},
                                {"unsafe_no_sandbox", options.unsafe_no_sandbox},
                                {"json", console.json()}};
  return BecomePython("export-tasks", "kernelmill.tasks.command", "module.command(sys.argv[1])",
                      given.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

}  // namespace kernelmill::client
