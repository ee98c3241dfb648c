#ifndef KERNELMILL_SERVICES_CLI_COMMANDS_JOB_COMMANDS_H_
#define KERNELMILL_SERVICES_CLI_COMMANDS_JOB_COMMANDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/rpc/server.h"
#include "services/cli/commands/cluster.h"
#include "services/cli/commands/console.h"

namespace kernelmill::cli {

struct CrawlOptions {
  std::string job_file;
  std::string out_dir;
  std::string data_dir;
  int workers = 1;
  std::string package_index;      // of Python packages; empty: what pip would use
  std::string github_api;         // the REST API's URL; empty: GitHub's own
  std::string github_token_file;  // with a token for it; empty: none
};

struct SubmitOptions {
  std::string job_file;
  int priority = 0;
  bool wait = false;
  std::string out_dir;  // waits, and exports to there; empty: nowhere
};

struct RetryOptions {
  std::string job;
  bool wait = false;
  std::string out_dir;  // as in SubmitOptions
};

// The commands of `kernelmill` on jobs. Each answers the exit code, or the error that stopped it.
// CANCELLED: by SIGINT or SIGTERM, which end all of them.

// A whole cluster in this process, for one job: submit, watch and export as below.
absl::StatusOr<int> Crawl(const CrawlOptions& options, rpc::TerminationSignal& signal,
                          Console& console);
absl::StatusOr<int> Submit(const ClusterAddress& cluster, const SubmitOptions& options,
                           rpc::TerminationSignal& signal, Console& console);
absl::StatusOr<int> Watch(const ClusterAddress& cluster, const std::string& job,
                          rpc::TerminationSignal& signal, Console& console);
absl::StatusOr<int> ListJobs(const ClusterAddress& cluster, rpc::TerminationSignal& signal,
                             Console& console);
absl::StatusOr<int> Report(const ClusterAddress& cluster, const std::string& job,
                           rpc::TerminationSignal& signal, Console& console);
// Ends a job; one that has ended stays as it is.
absl::StatusOr<int> Cancel(const ClusterAddress& cluster, const std::string& job,
                           rpc::TerminationSignal& signal, Console& console);
// Runs an ended job again.
absl::StatusOr<int> Retry(const ClusterAddress& cluster, const RetryOptions& options,
                          rpc::TerminationSignal& signal, Console& console);
// Forgets an ended job.
absl::StatusOr<int> Delete(const ClusterAddress& cluster, const std::string& job,
                           rpc::TerminationSignal& signal, Console& console);
absl::StatusOr<int> Export(const ClusterAddress& cluster, const std::string& job,
                           const std::string& out_dir, rpc::TerminationSignal& signal,
                           Console& console);

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_COMMANDS_JOB_COMMANDS_H_
