#ifndef KERNELMILL_COMMON_METRICS_FAMILIES_H_
#define KERNELMILL_COMMON_METRICS_FAMILIES_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace kernelmill::metrics {

enum class Type { kCounter, kGauge, kHistogram };

// The programs that expose a family; a set of bits.
enum Programs : uint8_t {
  kCoordinator = 1,
  kStore = 2,
  kFetcher = 4,
  kExtractor = 8,
  kValidator = 16,
  kDeduplicator = 32,
  kCompiler = 64,
  kRunner = 128,
  kWorkers = kFetcher | kExtractor | kCompiler | kRunner | kValidator | kDeduplicator,
  kEveryProgram = kCoordinator | kStore | kWorkers,
};

// The declaration of a metric. All metrics are declared here: docs/reference/metrics.md is
// generated from this table, and tests compare dashboards and alerts with it. Names are
// kernelmill_<service>_<what>_<unit>; counters end in _total; histograms are in seconds. Metrics of
// gRPC and of the process have their usual names.
struct Family {
  Type type;
  const char* name;
  const char* labels;  // "stage, outcome"; empty: none
  uint8_t programs;
  const char* help;  // one sentence
  // True if a process has the series from its start. Otherwise they appear with the first event,
  // because the labels are unknown before.
  bool from_start = true;
  bool takes_hours = false;  // a histogram's buckets reach a day, not 5 min
};

inline constexpr bool kFromFirstEvent = false;
inline constexpr bool kFromStart = true;
inline constexpr bool kTakesHours = true;

// ---------------------------------------------------------------- every process

inline constexpr Family kBuildInfo = {Type::kGauge, "kernelmill_build_info", "version",
                                      kEveryProgram,
                                      "Always 1; the label says which release runs."};
inline constexpr Family kLogLines = {Type::kCounter, "kernelmill_log_lines_total", "level",
                                     kEveryProgram, "Log lines written."};
inline constexpr Family kProcessCpu = {Type::kCounter, "process_cpu_seconds_total", "",
                                       kEveryProgram, "CPU time, user and system."};
inline constexpr Family kProcessMemory = {Type::kGauge, "process_resident_memory_bytes", "",
                                          kEveryProgram, "Resident memory."};
inline constexpr Family kProcessVirtual = {Type::kGauge, "process_virtual_memory_bytes", "",
                                           kEveryProgram, "Virtual memory."};
inline constexpr Family kProcessFiles = {Type::kGauge, "process_open_fds", "", kEveryProgram,
                                         "Open file descriptors."};
inline constexpr Family kProcessMaxFiles = {Type::kGauge, "process_max_fds", "", kEveryProgram,
                                            "Limit of open file descriptors."};
inline constexpr Family kProcessThreads = {Type::kGauge, "process_threads", "", kEveryProgram,
                                           "Threads of the process."};
inline constexpr Family kProcessStart = {Type::kGauge, "process_start_time_seconds", "",
                                         kEveryProgram,
                                         "When the process started, in seconds since 1970."};

inline constexpr Family kServerStarted = {
    Type::kCounter, "grpc_server_started_total", "grpc_service, grpc_method",
    kEveryProgram,  "Calls received.",           kFromFirstEvent};
inline constexpr Family kServerHandled = {
    Type::kCounter, "grpc_server_handled_total", "grpc_service, grpc_method, grpc_code",
    kEveryProgram,  "Calls answered, by code.",  kFromFirstEvent};
inline constexpr Family kServerSeconds = {
    Type::kHistogram, "grpc_server_handling_seconds", "grpc_service, grpc_method",
    kEveryProgram,    "Duration of received calls.",  kFromFirstEvent};
inline constexpr Family kClientStarted = {
    Type::kCounter, "grpc_client_started_total",      "grpc_service, grpc_method",
    kEveryProgram,  "Calls made to other processes.", kFromFirstEvent};
inline constexpr Family kClientHandled = {
    Type::kCounter, "grpc_client_handled_total",       "grpc_service, grpc_method, grpc_code",
    kEveryProgram,  "Calls made that ended, by code.", kFromFirstEvent};
inline constexpr Family kClientSeconds = {
    Type::kHistogram, "grpc_client_handling_seconds", "grpc_service, grpc_method",
    kEveryProgram,    "Duration of calls made.",      kFromFirstEvent};

inline constexpr Family kLimitRefusals = {
    Type::kCounter,
    "kernelmill_limit_refusals_total",
    "limit",
    kEveryProgram,
    "Calls refused because a limit was reached, by the flag that sets it.",
    kFromFirstEvent};  // programs without limits have no series

inline constexpr Family kConnections = {Type::kGauge, "kernelmill_connections", "", kEveryProgram,
                                        "Open connections of clients."};
inline constexpr Family kConnectionsRefused = {
    Type::kCounter, "kernelmill_connections_refused_total", "", kEveryProgram,
    "Connections closed because too many were open, or the process had no descriptor left."};
inline constexpr Family kStalledAnswers = {
    Type::kCounter, "kernelmill_answers_stalled_total", "", kEveryProgram,
    "Calls ended because the client did not read the answer."};

// ---------------------------------------------------------------- coordinator

inline constexpr Family kJobs = {Type::kGauge, "kernelmill_coordinator_jobs", "state", kCoordinator,
                                 "Jobs."};
inline constexpr Family kOldestJob = {
    Type::kGauge, "kernelmill_coordinator_oldest_job_seconds", "", kCoordinator,
    "Time since the oldest running job was submitted; 0 if no job runs."};
inline constexpr Family kJobsEnded = {Type::kCounter, "kernelmill_coordinator_jobs_ended_total",
                                      "state", kCoordinator, "Jobs that ended."};
inline constexpr Family kJobSeconds = {Type::kHistogram,
                                       "kernelmill_coordinator_job_seconds",
                                       "state",
                                       kCoordinator,
                                       "Time from a job's first submission to its end.",
                                       kFromStart,
                                       kTakesHours};
inline constexpr Family kTasks = {
    Type::kGauge, "kernelmill_coordinator_tasks", "stage, state", kCoordinator,
    "Tasks of running jobs. `sharing`: waits for the result of an equal task."};
inline constexpr Family kOldestReady = {
    Type::kGauge, "kernelmill_coordinator_oldest_ready_seconds", "stage", kCoordinator,
    "Time that the first task in the queue has been ready; 0 if the queue is empty."};
inline constexpr Family kSuspectTasks = {Type::kGauge, "kernelmill_coordinator_suspect_tasks", "",
                                         kCoordinator,
                                         "Tasks that must run alone because a worker crashed."};
inline constexpr Family kLeases = {Type::kGauge, "kernelmill_coordinator_leases", "", kCoordinator,
                                   "Active leases."};
inline constexpr Family kLeasesGranted = {Type::kCounter, "kernelmill_coordinator_leases_total", "",
                                          kCoordinator, "Leases granted."};
inline constexpr Family kCompletions = {Type::kCounter, "kernelmill_coordinator_completions_total",
                                        "outcome", kCoordinator, "Completions received."};
inline constexpr Family kQueueSeconds = {Type::kHistogram,
                                         "kernelmill_coordinator_queue_seconds",
                                         "stage",
                                         kCoordinator,
                                         "Time that a task was ready before it was leased.",
                                         kFromStart,
                                         kTakesHours};
inline constexpr Family kLeaseSeconds = {
    Type::kHistogram, "kernelmill_coordinator_lease_seconds",           "stage",
    kCoordinator,     "Time that a task was leased, with any outcome.", kFromStart,
    kTakesHours};
inline constexpr Family kResults = {
    Type::kCounter, "kernelmill_coordinator_results_total", "stage, origin", kCoordinator,
    "Tasks done, by the origin of the result: run by a worker, the action cache, shared with an "
    "equal task, or the pin history."};
inline constexpr Family kTaskErrors = {
    Type::kCounter, "kernelmill_coordinator_task_errors_total", "stage, code, next", kCoordinator,
    "Failed attempts, by the next step: retry, split or failed."};
inline constexpr Family kLeasesLost = {
    Type::kCounter, "kernelmill_coordinator_leases_lost_total", "stage, reason", kCoordinator,
    "Leases that ended without a completion: expired, worker_ended, or cancelled with their job."};
inline constexpr Family kQuarantinedFiles = {
    Type::kCounter, "kernelmill_coordinator_quarantined_files_total", "", kCoordinator,
    "Files and kernels that are quarantined because they crashed workers."};
inline constexpr Family kHostTasks = {
    Type::kGauge,
    "kernelmill_coordinator_host_tasks",
    "host, state",
    kCoordinator,
    "Tasks that use a host, and tasks that wait for it; only 50 hosts have names.",
    kFromFirstEvent};
inline constexpr Family kPausedHosts = {Type::kGauge, "kernelmill_coordinator_paused_hosts", "",
                                        kCoordinator, "Hosts that requested a pause."};
inline constexpr Family kCommitSeconds = {Type::kHistogram, "kernelmill_coordinator_commit_seconds",
                                          "", kCoordinator,
                                          "Time to write and sync changes of the state."};
inline constexpr Family kConnectedWorkers = {
    Type::kGauge, "kernelmill_coordinator_workers", "stage, version, state", kCoordinator,
    "Workers that have the stage in the coordinator's version, or in another (`other`)."};
inline constexpr Family kWorkerSlots = {Type::kGauge, "kernelmill_coordinator_worker_slots",
                                        "stage, version", kCoordinator,
                                        "Slots of connected workers that have the stage."};
inline constexpr Family kUnservedTasks = {
    Type::kGauge, "kernelmill_coordinator_unserved_tasks", "stage", kCoordinator,
    "Ready tasks of a stage that no connected worker can run."};

inline constexpr Family kDatasetFiles = {Type::kCounter, "kernelmill_coordinator_files_total",
                                         "result, reason", kCoordinator,
                                         "Files of finished datasets."};
inline constexpr Family kDatasetKernels = {
    Type::kCounter, "kernelmill_coordinator_kernels_total", "fate, rule", kCoordinator,
    "Kernels of finished datasets, by their fate and the rule that decided it."};

// ---------------------------------------------------------------- workers

inline constexpr Family kWorkerTasks = {Type::kCounter, "kernelmill_worker_tasks_total",
                                        "stage, outcome", kWorkers, "Leased tasks, by outcome."};
inline constexpr Family kStageSeconds = {Type::kHistogram, "kernelmill_worker_stage_seconds",
                                         "stage", kWorkers,
                                         "Time that a stage took for one action."};

inline constexpr Family kLookupSeconds = {Type::kHistogram, "kernelmill_worker_lookup_seconds",
                                          "stage", kWorkers,
                                          "Time to look up one action in the action cache."};
inline constexpr Family kSlots = {Type::kGauge, "kernelmill_worker_slots", "", kWorkers,
                                  "Tasks that run at a time."};
inline constexpr Family kBusySlots = {Type::kGauge, "kernelmill_worker_busy_slots", "", kWorkers,
                                      "Slots with a task."};
inline constexpr Family kWaitingFor = {
    Type::kGauge, "kernelmill_worker_waiting_for", "peer", kWorkers,
    "1 while the store or the coordinator is unreachable or full."};

inline constexpr Family kFetchRequests = {
    Type::kCounter,
    "kernelmill_fetcher_requests_total",
    "host, kind, result",
    kFetcher,
    "Requests to hosts to pin, fetch or search; only 50 hosts have names.",
    kFromFirstEvent};
inline constexpr Family kFetchSeconds = {Type::kHistogram, "kernelmill_fetcher_request_seconds",
                                         "kind", kFetcher, "Time to pin, fetch or search."};
inline constexpr Family kFetchedBytes = {
    Type::kCounter, "kernelmill_fetcher_received_bytes_total", "host", kFetcher, "Bytes received.",
    kFromFirstEvent};
inline constexpr Family kHostPauseSeconds = {Type::kCounter,
                                             "kernelmill_fetcher_retry_after_seconds_total",
                                             "host",
                                             kFetcher,
                                             "Pauses that hosts requested.",
                                             kFromFirstEvent};
inline constexpr Family kFetchedFiles = {Type::kCounter, "kernelmill_fetcher_files_total",
                                         "result, reason", kFetcher, "Files of fetched sources."};
inline constexpr Family kExtractedFiles = {Type::kCounter, "kernelmill_extractor_files_total",
                                           "result, reason", kExtractor,
                                           "Files searched for kernels."};
inline constexpr Family kFoundKernels = {Type::kCounter, "kernelmill_extractor_kernels_total",
                                         "dsl", kExtractor, "Kernels found."};
inline constexpr Family kCompiledKernels = {
    Type::kCounter, "kernelmill_compiler_kernels_total", "toolchain, target, status", kCompiler,
    "Kernels compiled, once per toolchain and target, by status."};
inline constexpr Family kNotAttempted = {Type::kCounter, "kernelmill_compiler_not_attempted_total",
                                         "reason", kCompiler,
                                         "Kernels that were not compiled, by reason."};
inline constexpr Family kCompileSeconds = {
    Type::kHistogram, "kernelmill_compiler_kernel_seconds", "toolchain", kCompiler,
    "Time of a toolchain for one kernel, with all its targets and tries."};
inline constexpr Family kRefusedKernels = {
    Type::kCounter, "kernelmill_compiler_refused_total", "toolchain, stage", kCompiler,
    "Kernels that did not compile, once per toolchain and target, by the compiler's stage; `limit` "
    "and `sandbox` are bounds that stopped it."};
inline constexpr Family kCompilesLost = {
    Type::kCounter, "kernelmill_compiler_lost_total", "toolchain, reason", kCompiler,
    "Compilations without a result, by reason: the process was lost, the machine failed, the "
    "toolchain is missing, the task was cancelled, or the process sent an invalid answer."};
inline constexpr Family kCompilersStarted = {
    Type::kCounter, "kernelmill_compiler_processes_total", "toolchain", kCompiler,
    "Compiler processes started. Each loads Triton and forks for kernels until it is lost or "
    "stopped."};
inline constexpr Family kRunCases = {Type::kCounter, "kernelmill_runner_cases_total",
                                     "device, outcome", kRunner, "Cases run, by outcome."};
inline constexpr Family kValidatedKernels = {
    Type::kCounter, "kernelmill_validator_kernels_total", "verdict, rule", kValidator,
    "Kernels validated, by verdict and the first rule that rejected them."};
inline constexpr Family kLicenses = {Type::kCounter, "kernelmill_validator_licenses_total", "kind",
                                     kValidator,
                                     "Kernels validated, by the place of their licence."};
inline constexpr Family kDecidedKernels = {Type::kCounter, "kernelmill_deduplicator_kernels_total",
                                           "fate, rule", kDeduplicator,
                                           "Kernels resolved, by fate."};

// ---------------------------------------------------------------- store

inline constexpr Family kBlobErrors = {Type::kCounter, "kernelmill_store_blob_errors_total",
                                       "method, code", kStore,
                                       "Errors of single blobs within successful batch calls."};
inline constexpr Family kReceivedBytes = {Type::kCounter, "kernelmill_store_received_bytes_total",
                                          "", kStore, "Content bytes received on the wire."};
inline constexpr Family kSentBytes = {Type::kCounter, "kernelmill_store_sent_bytes_total", "",
                                      kStore, "Content bytes sent on the wire."};
inline constexpr Family kLookups = {
    Type::kCounter, "kernelmill_store_lookups_total", "kind, found", kStore,
    "Lookups of blobs and action results, and whether they were found."};
inline constexpr Family kBlobs = {Type::kGauge, "kernelmill_store_blobs", "", kStore,
                                  "Blobs stored."};
inline constexpr Family kBlobBytes = {Type::kGauge, "kernelmill_store_blob_bytes", "", kStore,
                                      "Uncompressed size of the stored blobs."};
inline constexpr Family kActionResults = {Type::kGauge, "kernelmill_store_action_results", "",
                                          kStore, "Action results stored."};
inline constexpr Family kActionResultBytes = {Type::kGauge, "kernelmill_store_action_result_bytes",
                                              "", kStore, "Size of the stored action results."};
inline constexpr Family kHolds = {Type::kGauge, "kernelmill_store_holds", "", kStore,
                                  "Holds that protect blobs from eviction."};
inline constexpr Family kDamagedBlobs = {Type::kGauge, "kernelmill_store_damaged_blobs", "", kStore,
                                         "Blobs known to be damaged."};
inline constexpr Family kDiskBytes = {Type::kGauge, "kernelmill_store_disk_bytes", "", kStore,
                                      "Size of the database on the disk."};
inline constexpr Family kFreeDiskBytes = {Type::kGauge, "kernelmill_store_free_disk_bytes", "",
                                          kStore, "Free space on the database's disk."};
inline constexpr Family kLimitBytes = {Type::kGauge, "kernelmill_store_limit_bytes", "", kStore,
                                       "Limit of the database's size; 0: no limit."};
inline constexpr Family kRefusesWrites = {
    Type::kGauge, "kernelmill_store_refuses_writes", "", kStore,
    "1 while writes are refused: the disk is full, all blobs below the limit are held, or a table "
    "is damaged."};
inline constexpr Family kEvictions = {Type::kCounter, "kernelmill_store_evictions_total", "kind",
                                      kStore, "Blobs and action results evicted to make room."};
inline constexpr Family kEvictedBytes = {Type::kCounter, "kernelmill_store_evicted_bytes_total", "",
                                         kStore, "Bytes evicted to make room."};
inline constexpr Family kOpenUploads = {Type::kGauge, "kernelmill_store_open_uploads", "", kStore,
                                        "Unfinished uploads in streams."};
inline constexpr Family kStagedBytes = {Type::kGauge, "kernelmill_store_staged_bytes", "", kStore,
                                        "Total size of the unfinished uploads, by their digests."};
inline constexpr Family kSyncSeconds = {Type::kHistogram, "kernelmill_store_sync_seconds", "",
                                        kStore, "Duration of durable writes."};
inline constexpr Family kStallSeconds = {Type::kCounter, "kernelmill_store_stall_seconds_total", "",
                                         kStore, "Time that RocksDB stalled writes."};
inline constexpr Family kCompactionBytes = {Type::kCounter,
                                            "kernelmill_store_compaction_bytes_total", "direction",
                                            kStore, "Bytes that compaction read and wrote."};
inline constexpr Family kFlushedBytes = {Type::kCounter, "kernelmill_store_flushed_bytes_total", "",
                                         kStore, "Bytes written from memory to tables."};
inline constexpr Family kPendingCompaction = {
    Type::kGauge, "kernelmill_store_pending_compaction_bytes", "", kStore,
    "RocksDB's estimate of the bytes that compaction still has to rewrite."};
inline constexpr Family kWrittenBytes = {Type::kCounter, "kernelmill_store_written_bytes_total", "",
                                         kStore, "Bytes written to RocksDB."};

// Returns all families above, in their order.
absl::Span<const Family* const> AllFamilies();

// Returns the text of docs/reference/metrics.md.
std::string FamiliesAsMarkdown();

}  // namespace kernelmill::metrics

#endif  // KERNELMILL_COMMON_METRICS_FAMILIES_H_
