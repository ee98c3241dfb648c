#ifndef KERNELMILL_CLIENT_COMMANDS_COMMANDS_H_
#define KERNELMILL_CLIENT_COMMANDS_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/commands/cluster.h"
#include "client/commands/console.h"
#include "client/embedded/embedded_cluster.h"
#include "common/rpc/server.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::client {

// The commands of `kernelmill`. Each returns the exit code, or the error that stopped it. Every
// command that takes a signal ends with CANCELLED after SIGINT or SIGTERM.

// Commands on jobs (job_commands.cc).

// The folder that a dataset is written to, and the optional parts of an export.
struct ExportTarget {
  std::string out_dir;
  bool tree = false;  // also write the source files, by category
  // Replace the dataset in out_dir even if the new one lacks kernels of sources that failed.
  bool allow_failed = false;
};

// The hosts and services that a fetcher of this process calls.
struct HostOptions {
  std::vector<std::string> allow_hosts;  // as EmbeddedCluster::Options
  std::string package_index;             // the index of Python packages; empty: pip's default
  std::string github_api;                // the REST API's URL; empty: GitHub's own
  std::string github_token_file;         // empty: no token
};

struct CrawlOptions : HostOptions {
  std::string job_file;
  ExportTarget target;
  std::string data_dir;
  int workers = 1;
  bool dry_run = false;   // print what would be fetched, and stop; needs no out_dir
  bool no_cache = false;  // run every stage again
  std::string trace;      // as ReportOptions::trace
  // Compilers for a job that compiles. The job names its toolchains.
  EmbeddedCompilerOptions compiler;
  // A Python for a job that runs kernels. The job names its device.
  EmbeddedRunnerOptions runner;
};

struct ReportOptions {
  std::string job;
  bool timeline = false;  // print the timeline instead of the ledger
  std::string trace;      // the file to write trace events to; empty: none
};

struct SubmitOptions {
  std::string job_file;
  int priority = 0;
  bool dry_run = false;   // resolve the sources on this machine, and submit nothing
  bool no_cache = false;  // run every stage again
  bool wait = false;
  ExportTarget target;  // with an out_dir, waits and exports
  // Names the submission: another submission with the same id returns the existing job. Empty: a
  // random id.
  std::string request_id;
};

struct RetryOptions {
  std::string job;
  bool no_cache = false;  // run every stage again
  bool wait = false;
  ExportTarget target;  // with an out_dir, waits and exports
};

// Starts a whole cluster in this process, submits one job, follows and exports it.
// FAILED_PRECONDITION: the job compiles, and this machine lacks a toolchain or a sandbox; found
// before anything starts.
absl::StatusOr<int> Crawl(const CrawlOptions& options, rpc::TerminationSignal& signal,
                          Console& console);
absl::StatusOr<int> Submit(const ClusterAddress& cluster, const SubmitOptions& options,
                           rpc::TerminationSignal& signal, Console& console);
absl::StatusOr<int> Watch(const ClusterAddress& cluster, const std::string& job,
                          rpc::TerminationSignal& signal, Console& console);
absl::StatusOr<int> ListJobs(const ClusterAddress& cluster, rpc::TerminationSignal& signal,
                             Console& console);
// Lists the workers that the coordinator heard from recently, and their tasks; with --json one
// object a line.
absl::StatusOr<int> ListWorkers(const ClusterAddress& cluster, rpc::TerminationSignal& signal,
                                Console& console);
absl::StatusOr<int> Report(const ClusterAddress& cluster, const ReportOptions& options,
                           rpc::TerminationSignal& signal, Console& console);
// Ends a running job. A job that has ended stays as it is.
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

// Commands on a job file that fetch nothing (check_commands.cc). Exit code 1 if a source fails.

struct CheckOptions : HostOptions {
  std::string job_file;
  bool online = false;                         // also ask the hosts of sources
  absl::Duration timeout = absl::Seconds(30);  // for each of them
};
// Reads a job file as Submit does, and prints the job with its lists resolved: as a job file, or
// with --json as its message. Checks that local folders exist, and if asked to that repositories,
// refs and packages do; says what was not checked. The file "-" is standard input.
// INVALID_ARGUMENT: the job file is wrong; the message has the place.
absl::StatusOr<int> Check(const CheckOptions& options, rpc::TerminationSignal& signal,
                          Console& console);
// Resolves the sources of a job as Crawl would, and prints for each its version, its size where it
// is known, and if the cache has it; with --json one object. Without a data_dir no cache is looked
// at.
absl::StatusOr<int> DryRun(const CrawlOptions& options, const v1::JobSpec& spec,
                           rpc::TerminationSignal& signal, Console& console);

// Writes a job file (init_command.cc).

struct InitOptions {
  std::string file = "job.yaml";
  std::vector<std::string> repositories;  // owner/name at GitHub, or URLs
  std::vector<std::string> packages;      // name==version
  std::vector<std::string> folders;
  std::vector<std::string> languages;  // empty: triton
  std::string name;                    // empty: made from the first source
  std::string out_dir;                 // for the next command only; empty: the name
  bool force = false;                  // replace the file
};
// Writes a job file with comments, and prints the next command. Asks for sources on a terminal if
// the options have none. INVALID_ARGUMENT: there is no source, or one is wrong; ALREADY_EXISTS: the
// file exists.
absl::StatusOr<int> Init(InitOptions options, rpc::TerminationSignal& signal, Console& console);

// Commands on the data folder of crawls on this machine (cache_commands.cc). NOT_FOUND: it is no
// such folder; FAILED_PRECONDITION: another process has it open.

// Prints what each part of the folder takes on the disk, also while it is open elsewhere.
absl::StatusOr<int> CacheSize(const std::string& data_dir, Console& console);
// Drops the least recently used content until the store takes at most `limit_bytes`.
absl::StatusOr<int> CachePrune(const std::string& data_dir, int64_t limit_bytes,
                               rpc::TerminationSignal& signal, Console& console);
// Deletes the results of crawls, after a question unless `yes`; keeps compilers and other files.
absl::StatusOr<int> CacheClear(const std::string& data_dir, bool yes,
                               rpc::TerminationSignal& signal, Console& console);

// Commands on files of this machine (file_commands.cc). They call the extractor and the validator
// in this process. Exit code 1 if a file cannot be read or extracted. NOT_FOUND: a path does not
// exist.

// Lists the kernels in the files; with --json one kernel a line, with its text.
absl::StatusOr<int> ExtractFiles(const std::vector<std::string>& paths, Console& console);

// Prints for each kernel if a job with default policies would keep it, its licence, and the checks
// that it fails. Exit code 1 also if a kernel is rejected.
absl::StatusOr<int> ValidateFiles(const std::vector<std::string>& paths, Console& console);

// Lists the pinned toolchains, which of them this machine has, and if it can run compilers in the
// sandbox. Exit code 1 if a toolchain or the sandbox is missing.
absl::StatusOr<int> ListToolchains(const std::string& folder, Console& console);

// Runs the installer of toolchains, which lies beside this program, in the place of this process.
// NOT_FOUND: it does not.
absl::StatusOr<int> InstallToolchains(const std::string& folder);

// Commands on exported datasets (dataset_commands.cc).

struct CatalogOptions {
  std::string dataset;  // the folder of an export
  std::string out_dir;  // may be empty with `serve`: a folder that is removed at the end
  std::string serve;    // the address to serve the site at, until a signal comes; empty: do not
  bool wanted = false;  // print searches for missing operations instead of writing a site
  size_t limit = 50;    // the most searches
};

// Writes a static site of a dataset's kernels, or lists searches for the operations that it lacks.
// With --json one object, or one for each search. INVALID_ARGUMENT: the folder has no export;
// FAILED_PRECONDITION: the output folder has files of others.
absl::StatusOr<int> Catalog(const CatalogOptions& options, rpc::TerminationSignal& signal,
                            Console& console);

struct ReviewOptions {
  std::string dataset;             // the folder of an export
  std::string reviews;             // the file of decisions; may be missing with `list`
  std::vector<std::string> flags;  // the kinds of flags to review; empty: all
  double license_below = 0.7;      // flag licences with a lower confidence
  std::string who;                 // empty: the user of this process
  bool list = false;               // list undecided items instead of asking
  bool all = false;                // list decided items too
  // Ids of items to decide on instead of asking.
  std::vector<std::string> accept;
  std::vector<std::string> reject;
  std::string why;  // the reason for accept and reject
};

// Shows the flagged items of an exported dataset to a person at the terminal, and records the
// decisions. INVALID_ARGUMENT: a decision lacks its author or reason, or the file of decisions is
// wrong; NOT_FOUND: the dataset or an item does not exist; FAILED_PRECONDITION: there is no
// terminal.
absl::StatusOr<int> Review(const ReviewOptions& options, rpc::TerminationSignal& signal,
                           Console& console);

struct DiffOptions {
  std::string a;  // the folders of two exports
  std::string b;
  size_t limit = 20;  // the most kernels named for each kind of change; --json names all
};

// Compares two datasets. Exit code 0: they are equal; 1: they differ. INVALID_ARGUMENT: a folder
// has no export.
absl::StatusOr<int> Diff(const DiffOptions& options, Console& console);

struct SimilarOptions {
  std::string file;  // a file, or a folder of Python files; "-": standard input
  // The dataset. Exactly one of these is set.
  std::string job;
  std::string dataset;  // its digest
  std::string out_dir;  // the folder of its export
  // The data folder of a crawl in one process, which has the dataset; empty: the cluster has it.
  std::string data_dir;
  int top = 10;
  double threshold = 0.7;
};

// Lists the kernels of a dataset that are most similar to those in a file (similar_command.cc). A
// file without kernels is compared as one text. With --json one line for each kernel of the file.
// Exit code 1 if a file of a folder cannot be read as code.
// Exit code 0 also if nothing is similar. NOT_FOUND: the file, job or dataset does not exist;
// FAILED_PRECONDITION: the job has no dataset, or a crawl is using data_dir.
absl::StatusOr<int> Similar(const ClusterAddress& address, const SimilarOptions& options,
                            rpc::TerminationSignal& signal, Console& console);

struct EvaluateOptions {
  std::string generations;
  std::string reference;  // a file; empty: the references in the generations
  std::string baseline;   // another model's generations; empty: none
  // The dataset that the model was trained on: the folder of an export, or a cluster's job. If both
  // are empty, memorised text is not searched for.
  std::string dataset;
  std::string job;
  double threshold = 0.7;    // the lowest similarity that counts as memorised
  std::string out_dir;       // empty: only print the page, or with --json the object
  size_t sheet_tasks = 100;  // the most tasks on the sheet
  bool no_compile = false;
  std::string compiler;              // a kernelmill-compiler's address; empty: `embedded` compiles
  EmbeddedCompilerOptions embedded;  // its `toolchains` apply to both; empty: all pinned ones
  std::vector<std::string> targets;  // empty: "cuda:90"
  // Run the samples on cases: tasks.jsonl, or the folder of an export that has it; empty: do not.
  std::string tasks;
  std::string evidence;  // the file beside whose name the bytes of cases are; empty: none
  std::string device = "cpu";
  int workers = 1;
  int case_seconds = 60;
};

// Measures the generations of a model (client/evaluate, evaluate_command.cc). Only a job's dataset
// needs a cluster. The wheel's Python module runs samples on cases. Writes evaluation.json,
// EVALUATION.md, sheet.html and samples.jsonl. Exit code 0 for any result. INVALID_ARGUMENT: a line
// of a file is wrong; the message has the place; FAILED_PRECONDITION: a toolchain or the sandbox is
// missing, or out_dir has files of others; UNAVAILABLE: the compiler cannot be reached.
absl::StatusOr<int> EvaluateModel(const ClusterAddress& address, const EvaluateOptions& options,
                                  rpc::TerminationSignal& signal, Console& console);

struct PublishOptions {
  std::string dataset;
  std::string destination;  // a URL
  std::string version;      // empty: the next one
  bool patch = false;
  bool delete_older = false;
  std::string before;              // the export of the newest version; empty: it is downloaded
  std::vector<std::string> allow;  // the checks that may fail
  bool json_lines = false;
  bool is_private = false;
  bool discard = false;
  bool dry_run = false;
};

// Publishes a dataset (publish_command.cc): replaces this process by the wheel's Python module.
// Returns only if that cannot be run: FAILED_PRECONDITION.
absl::Status Publish(const PublishOptions& options, const Console& console);

// Commands on kernels that run (execution_commands.cc). Each replaces this process by the wheel's
// Python module, as Publish does.

struct RecordOptions {
  std::string dataset;
  std::vector<std::string> repositories;  // NAME=FOLDER
  std::string evidence = "evidence.jsonl";
  std::string device = "cpu";
  std::vector<std::string> tests;  // paths in the repository; empty: all
  std::vector<std::string> pytest_arguments;
  std::string python;        // the Python of the tests; empty: the module's
  std::string lock;          // the packages that it must have; empty: any
  std::string logs;          // the folder for what pytest prints; empty: none
  int seconds = 3600;        // bounds the tests of a repository
  int test_seconds = 60;     // bounds a test
  int cases = 6;             // the most cases of a kernel
  int case_bytes = 1 << 20;  // the most bytes of a case that are kept by content
  bool unsafe_no_container = false;
};

struct CaptureOptions {
  std::vector<std::string> models;  // LIBRARY:NAME
  std::string list;                 // a file of such names; empty: none
  std::string from;                 // a folder of TorchInductor's to convert; empty: none
  std::string out = "captures";
  std::string device;  // "cuda", or a GPU that is not there: "h100", "a100"; empty: as the machine
  std::string mode = "both";
  std::string dtype = "float32";
  std::string license;  // the models'; empty: the library's
  int batch = 2;
  int length = 32;  // a sequence's
  int workers = 1;
  int seconds = 300;    // bounds a capture
  int memory = 8;       // likewise, in GiB
  double deadline = 0;  // seconds after which nothing is begun; 0: none
  int most = 0;         // the most captures; 0: all
  bool dynamic = false;
  bool autotune = false;
  bool check = false;
  bool unsafe_no_container = false;
};

struct RunOptions {
  std::string dataset;   // the folder of an export, or a bundle
  std::string evidence;  // empty: evidence.jsonl in the dataset, or here
  std::string device = "cpu";
  std::string python;  // a Python with Triton; empty: the module's
  int workers = 1;
  int mutants = 0;         // the most mutants of a kernel
  double threshold = 0.9;  // kernels with a lower score get more cases
  int made = 4;            // the most cases that are made for a kernel
  bool speed = false;      // times kernels instead
  bool changes = false;    // times both versions of changes instead
  double deadline = 0;     // seconds after which no kernel is begun; 0: none
  int case_seconds = 60;
  std::vector<std::string> kernels;  // qualified names; empty: all
  std::string bundle;                // the archive to write instead
  std::vector<std::string> merge;    // evidence files to add first
  bool unsafe_no_sandbox = false;
};

struct ExportTasksOptions {
  std::string dataset;
  std::string format;    // flashinfer-trace, verifiers or kernelbench
  std::string out;       // a folder that does not exist, or is empty
  std::string evidence;  // the evidence file beside whose folder tensors lie; empty: none
  std::string python;    // a Python with Triton and torch; empty: the module's
  bool verified = false;
  int64_t task_bytes = 64 << 20;  // the most bytes of a task's cases
  bool unsafe_no_sandbox = false;
};

absl::Status Record(const RecordOptions& options, const Console& console);
absl::Status Capture(const CaptureOptions& options, const Console& console);
absl::Status RunKernels(const RunOptions& options, const Console& console);
absl::Status ExportTasks(const ExportTasksOptions& options, const Console& console);

// Commands on the cluster's store (store_commands.cc). UNIMPLEMENTED: the store is not a
// kernelmill-store.

absl::StatusOr<int> StoreStat(const ClusterAddress& cluster, rpc::TerminationSignal& signal,
                              Console& console);
// Exit code 1 if blobs are damaged, even if they were dropped: their content is lost.
absl::StatusOr<int> StoreVerify(const ClusterAddress& cluster, bool drop_damaged,
                                rpc::TerminationSignal& signal, Console& console);
struct GarbageOptions {
  int64_t target_bytes = 0;
  // Collect even if a job's dataset is not held, or the coordinator cannot list the jobs.
  bool yes = false;
};
// FAILED_PRECONDITION: the collection would drop a part of a job's dataset, or cannot know.
absl::StatusOr<int> StoreCollectGarbage(const ClusterAddress& cluster,
                                        const GarbageOptions& options,
                                        rpc::TerminationSignal& signal, Console& console);
struct ForgetOptions {
  std::string stage;   // empty: any
  int version = 0;     // of the stage; 0: any
  std::string worker;  // the writer of the results; empty: any
  bool dry_run = false;
};
// Drops action results, so that the stages run again. INVALID_ARGUMENT: neither a stage nor a
// worker is given.
absl::StatusOr<int> StoreForget(const ClusterAddress& cluster, const ForgetOptions& options,
                                rpc::TerminationSignal& signal, Console& console);
// Commands on the backups of a server (backup_commands.cc).

enum class DataServer { kStore, kCoordinator };
struct PruneOptions {
  int keep = 0;                                   // the number of backups to keep; 0: all
  absl::Duration max_age = absl::ZeroDuration();  // zero: any age
};
struct NewBackup {
  std::string name;
  PruneOptions prune;  // applied afterwards if it sets a limit
};
absl::StatusOr<int> MakeBackup(DataServer server, const ClusterAddress& cluster,
                               const NewBackup& backup, rpc::TerminationSignal& signal,
                               Console& console);
absl::StatusOr<int> PruneBackups(DataServer server, const ClusterAddress& cluster,
                                 const PruneOptions& prune, rpc::TerminationSignal& signal,
                                 Console& console);
absl::StatusOr<int> ListCoordinatorBackups(const ClusterAddress& cluster,
                                           rpc::TerminationSignal& signal, Console& console);
// Makes a server's data folder from a backup's folder. Both are on this machine, and no server may
// use the data folder.
absl::StatusOr<int> Restore(DataServer server, const std::string& backup_dir,
                            const std::string& data_dir, Console& console);

// The commands that look into a dataset (look_commands.cc). INVALID_ARGUMENT: the folder has no
// export.

struct ShowOptions {
  std::string dataset;
  std::string what;     // an id, the beginning of one, or a name
  bool source = false;  // print the source instead of the module
};
// Prints a kernel; of several that a name could mean a line each. NOT_FOUND: none has the id or the
// name; the message has its fate in the ledger.
absl::StatusOr<int> Show(const ShowOptions& options, Console& console);
struct HeadOptions {
  std::string dataset;
  int64_t count = 10;
};
// Prints the first kernels, a line each.
absl::StatusOr<int> Head(const HeadOptions& options, Console& console);
// Counts the kernels of a dataset by language, kind, operation and so on.
absl::StatusOr<int> Stats(const std::string& dataset, Console& console);
struct RejectedOptions {
  std::string dataset;
  // Only those with this fate, or this part of their reason: "duplicate", "license", "compiles".
  // Empty: all.
  std::string reason;
};
// Lists the kernels and whole files that a job found and did not keep, then the kept kernels that
// do not compile; each on a line with its reason.
absl::StatusOr<int> Rejected(const RejectedOptions& options, Console& console);

// The commands that start and show a cluster (dev_command.cc).

struct DevOptions {
  std::string data_dir;
  int first_port = 7070;  // the coordinator's; the other servers have the next ones
  int page_port = 7080;   // 0: picks one
  int slots = 1;          // of each worker
  bool compiler = false;
  std::string runner;                    // a runner's device; empty: start none
  std::vector<std::string> allow_local;  // folders that sources may be in
};
// Starts the servers beside this program, and serves the page of jobs until a signal comes. A
// server that dies is started again. FAILED_PRECONDITION: a port is in use, or a server does not
// start.
absl::StatusOr<int> Dev(const DevOptions& options, rpc::TerminationSignal& signal,
                        Console& console);
// Serves the page of a cluster's jobs at `listen` (host:port) until a signal comes.
absl::StatusOr<int> Page(const ClusterAddress& cluster, const std::string& listen,
                         rpc::TerminationSignal& signal, Console& console);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_COMMANDS_H_
