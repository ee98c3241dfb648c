#ifndef KERNELMILL_SERVICES_CLI_COMMANDS_SIMILAR_COMMAND_H_
#define KERNELMILL_SERVICES_CLI_COMMANDS_SIMILAR_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/rpc/server.h"
#include "services/cli/commands/cluster.h"
#include "services/cli/commands/console.h"

namespace kernelmill::cli {

struct SimilarOptions {
  std::string file;  // "-": standard input
  // Which dataset: exactly one of these is given.
  std::string job;
  std::string dataset;  // digest
  std::string out_dir;  // that it was written to
  // Of a crawl in one process, which then has the dataset; empty: the cluster has it.
  std::string data_dir;
  int top = 10;
  double threshold = 0.7;
};

// Lists the kernels of a dataset that are most like those in a file, or like all of its text where
// it has none; with --json a line for each kernel of the file. Answers the exit code, 0 also where
// nothing is alike. NOT_FOUND: no such file, job or dataset; FAILED_PRECONDITION: the job has no
// dataset, or a crawl is using data_dir; CANCELLED: by SIGINT or SIGTERM.
absl::StatusOr<int> Similar(const ClusterAddress& address, const SimilarOptions& options,
                            rpc::TerminationSignal& signal, Console& console);

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_COMMANDS_SIMILAR_COMMAND_H_
