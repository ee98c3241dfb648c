#ifndef KERNELMILL_CLIENT_COMMANDS_COMMANDS_H_
#define KERNELMILL_CLIENT_COMMANDS_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/commands/cluster.h"
#include "client/commands/console.h"
#include "client/embedded/embedded_cluster.h"
#include "common/rpc/server.h"

namespace kernelmill::client {

// The commands of `kernelmill`. Each answers the exit code, or the error that stopped it.
// CANCELLED: by SIGINT or SIGTERM, which end all that take a signal.

// On jobs (job_commands.cc).

// Where a dataset is written to, and what beside the files that every export has.
struct ExportTarget {
  std::string out_dir;
  bool tree = false;  // the source files by category
  // Replace the dataset in out_dir even if the new one lacks kernels of sources that failed.
  bool allow_failed = false;
};

struct CrawlOptions {
  std::string job_file;
  ExportTarget target;
  std::string data_dir;
  int workers = 1;
  std::string package_index;         // of Python packages; empty: what pip would use
  std::string github_api;            // the REST API's URL; empty: GitHub's own
  std::string github_token_file;     // with a token for it; empty: none
  bool no_cache = false;             // every stage is run anew
  std::string trace;                 // a file, as ReportOptions has it
  EmbeddedCompilerOptions compiler;  // of a job that compiles; the job names its toolchains
};

struct ReportOptions {
  std::string job;
  bool timeline = false;  // where its time went, in place of the ledger
  std::string trace;      // a file to write the timeline to, for Perfetto and Chrome; empty: none
};

struct SubmitOptions {
  std::string job_file;
  int priority = 0;
  bool no_cache = false;  // as in CrawlOptions
  bool wait = false;
  ExportTarget target;     // waits, and exports to there; empty: nowhere
  std::string request_id;  // names the submission: once more makes no second job. Empty: a new one
};

struct RetryOptions {
  std::string job;
  bool no_cache = false;  // as in CrawlOptions
  bool wait = false;
  ExportTarget target;  // as in SubmitOptions
};

// Reads a job file as Submit does, and prints the job: as a job file in which its lists are read,
// or with --json as its message; the file "-" is standard input (check_command.cc).
// INVALID_ARGUMENT: what is wrong, and where.
absl::StatusOr<int> Check(const std::string& job_file, Console& console);
// A whole cluster in this process, for one job: submit, watch and export as below.
// FAILED_PRECONDITION: what a job that compiles needs is not on this machine; nothing was begun.
absl::StatusOr<int> Crawl(const CrawlOptions& options, rpc::TerminationSignal& signal,
                          Console& console);
absl::StatusOr<int> Submit(const ClusterAddress& cluster, const SubmitOptions& options,
                           rpc::TerminationSignal& signal, Console& console);
absl::StatusOr<int> Watch(const ClusterAddress& cluster, const std::string& job,
                          rpc::TerminationSignal& signal, Console& console);
absl::StatusOr<int> ListJobs(const ClusterAddress& cluster, rpc::TerminationSignal& signal,
                             Console& console);
// The workers that the coordinator heard of lately, and what they hold; with --json a line each.
absl::StatusOr<int> ListWorkers(const ClusterAddress& cluster, rpc::TerminationSignal& signal,
                                Console& console);
absl::StatusOr<int> Report(const ClusterAddress& cluster, const ReportOptions& options,
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
                           const ExportTarget& target, rpc::TerminationSignal& signal,
                           Console& console);

// On plain files and folders, through the extractor's and the validator's services in this process
// (file_commands.cc). Exit code 1 if a file could not be read or extracted. NOT_FOUND: a path is
// not there.

// Lists the kernels in the files; with --json each with its text, a line a kernel.
absl::StatusOr<int> ExtractFiles(const std::vector<std::string>& paths, Console& console);

// Says of each kernel whether a job with default policies would accept it, its licence and the
// checks that it does not pass. Exit code 1 also if any is rejected.
absl::StatusOr<int> ValidateFiles(const std::vector<std::string>& paths, Console& console);

// Lists the pinned toolchains, and says whether this machine has them and can confine what they run
// (toolchains_command.cc). Exit code 1 unless it has all and can.
absl::StatusOr<int> ListToolchains(const std::string& folder, Console& console);

struct DiffOptions {
  std::string a;  // folders that exports wrote
  std::string b;
  size_t limit = 20;  // kernels that are named of each kind of change; with --json all
};

// Says what is another of two datasets (diff_command.cc). Exit code 0: they are the same; 1: they
// are not; 2, INVALID_ARGUMENT: a folder holds no export.
absl::StatusOr<int> Diff(const DiffOptions& options, Console& console);

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
// it has none; with --json a line for each kernel of the file (similar_command.cc). Exit code 0
// also where nothing is alike. NOT_FOUND: no such file, job or dataset; FAILED_PRECONDITION: the
// job has no dataset, or a crawl is using data_dir.
absl::StatusOr<int> Similar(const ClusterAddress& address, const SimilarOptions& options,
                            rpc::TerminationSignal& signal, Console& console);

// On the cluster's store (store_commands.cc). UNIMPLEMENTED: a store of another make.

absl::StatusOr<int> StoreStat(const ClusterAddress& cluster, rpc::TerminationSignal& signal,
                              Console& console);
// Exit code 1 if blobs are damaged, also where they were dropped: what they were is gone.
absl::StatusOr<int> StoreVerify(const ClusterAddress& cluster, bool drop_damaged,
                                rpc::TerminationSignal& signal, Console& console);
struct GarbageOptions {
  int64_t target_bytes = 0;
  // Also where the dataset of a job is not held, or the coordinator cannot say which jobs there
  // are.
  bool yes = false;
};
// FAILED_PRECONDITION: something of a job's dataset could be dropped, or nobody knows.
absl::StatusOr<int> StoreCollectGarbage(const ClusterAddress& cluster,
                                        const GarbageOptions& options,
                                        rpc::TerminationSignal& signal, Console& console);
struct ForgetOptions {
  std::string stage;   // empty: any
  int version = 0;     // of the stage; 0: any
  std::string worker;  // that wrote them; empty: any
  bool dry_run = false;
};
// Drops action results, so that the stages run anew. INVALID_ARGUMENT: neither a stage nor a worker
// is given.
absl::StatusOr<int> StoreForget(const ClusterAddress& cluster, const ForgetOptions& options,
                                rpc::TerminationSignal& signal, Console& console);
struct PruneOptions {
  int keep = 0;                                   // 0: any number
  absl::Duration max_age = absl::ZeroDuration();  // zero: of any age
};
// Prunes after the backup, where `prune` says how.
absl::StatusOr<int> StoreBackup(const ClusterAddress& cluster, const std::string& name,
                                const PruneOptions& prune, rpc::TerminationSignal& signal,
                                Console& console);
absl::StatusOr<int> StorePrune(const ClusterAddress& cluster, const PruneOptions& prune,
                               rpc::TerminationSignal& signal, Console& console);
// Makes a store's data folder of a backup's folder, both on this machine; no store runs on it.
absl::StatusOr<int> StoreRestore(const std::string& backup_dir, const std::string& data_dir,
                                 Console& console);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_COMMANDS_H_
