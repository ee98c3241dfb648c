#ifndef KERNELMILL_CLIENT_COMMANDS_EVALUATE_COMMAND_H_
#define KERNELMILL_CLIENT_COMMANDS_EVALUATE_COMMAND_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/commands/cluster.h"
#include "client/commands/console.h"
#include "client/embedded/embedded_cluster.h"
#include "client/evaluate/sheet.h"
#include "common/rpc/server.h"

namespace kernelmill::client {

struct EvaluateOptions {
  std::string generations;
  std::string reference;  // a file; empty: what the generations bring
  std::string baseline;   // another model's generations; empty: none
  // What the model was trained on: the folder of an export, or a job of a cluster. Empty: memorised
  // text is not looked for.
  std::string dataset;
  std::string job;
  double threshold = 0.7;  // how similar memorised text is at least
  std::string out_dir;     // empty: the page, or with --json the object, is printed alone
  size_t sheet_tasks = kSheetTasks;
  bool no_compile = false;
  // Address of a kernelmill-compiler; empty: `embedded` compiles in this process.
  std::string compiler;
  EmbeddedCompilerOptions embedded;  // `toolchains` names them for both; empty: all pinned
  std::vector<std::string> targets;  // empty: "cuda:90"
};

// Measures what a model wrote (client/evaluate), in this process but for a job's dataset.
// Writes evaluation.json, EVALUATION.md, sheet.html and samples.jsonl. Exit code 0 whatever the
// measures are. INVALID_ARGUMENT: what is wrong in which line of which file; FAILED_PRECONDITION:
// a toolchain is not installed where it compiles, this machine cannot confine it, or out_dir holds
// something else; UNAVAILABLE: the compiler is out of reach.
absl::StatusOr<int> EvaluateModel(const ClusterAddress& address, const EvaluateOptions& options,
                                  rpc::TerminationSignal& signal, Console& console);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_EVALUATE_COMMAND_H_
