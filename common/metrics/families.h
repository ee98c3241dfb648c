#ifndef KERNELMILL_COMMON_METRICS_FAMILIES_H_
#define KERNELMILL_COMMON_METRICS_FAMILIES_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace kernelmill::metrics {

enum class Type { kCounter, kGauge, kHistogram };

// Who exposes a family; a set of bits.
enum Programs : uint8_t {
  kCoordinator = 1,
  kStore = 2,
  kFetcher = 4,
  kExtractor = 8,
  kValidator = 16,
  kDeduplicator = 32,
  kCompiler = 64,
  kWorkers = kFetcher | kExtractor | kCompiler | kValidator | kDeduplicator,
  kEveryProgram = kCoordinator | kStore | kWorkers,
};

// All metrics are declared here and nowhere else: docs/metrics.md is made of this table, and
// dashboards and alerts are held to it. Names are kernelmill_<service>_<what>_<unit>; counters end
// in _total; histograms are of seconds. Those of gRPC and of the process have the names that
// engineers know from elsewhere.
struct Family {
  Type type;
  const char* name;
  const char* labels;  // "stage, outcome"; empty: none
  uint8_t programs;
  const char* help;  // one sentence
  // Whether a process has series of it as soon as it serves; else from the first event on, since
  // nobody knows the labels before.
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
                                     kEveryProgram, "Lines written to the log."};
inline constexpr Family kProcessCpu = {Type::kCounter, "process_cpu_seconds_total", "",
                                       kEveryProgram, "Processor time used, user and system."};
inline constexpr Family kProcessMemory = {Type::kGauge, "process_resident_memory_bytes", "",
                                          kEveryProgram, "Memory in use."};
inline constexpr Family kProcessVirtual = {Type::kGauge, "process_virtual_memory_bytes", "",
                                           kEveryProgram, "Address space in use."};
inline constexpr Family kProcessFiles = {Type::kGauge, "process_open_fds", "", kEveryProgram,
                                         "File descriptors open."};
inline constexpr Family kProcessMaxFiles = {Type::kGauge, "process_max_fds", "", kEveryProgram,
                                            "File descriptors that may be open."};
inline constexpr Family kProcessThreads = {Type::kGauge, "process_threads", "", kEveryProgram,
                                           "Threads of the process."};
inline constexpr Family kProcessStart = {Type::kGauge, "process_start_time_seconds", "",
                                         kEveryProgram,
                                         "When the process started, in seconds since 1970."};

inline constexpr Family kServerStarted = {
    Type::kCounter, "grpc_server_started_total", "grpc_service, grpc_method",
    kEveryProgram,  "Calls that came in.",       kFromFirstEvent};
inline constexpr Family kServerHandled = {
    Type::kCounter, "grpc_server_handled_total",      "grpc_service, grpc_method, grpc_code",
    kEveryProgram,  "Calls answered, by their code.", kFromFirstEvent};
inline constexpr Family kServerSeconds = {
    Type::kHistogram, "grpc_server_handling_seconds",       "grpc_service, grpc_method",
    kEveryProgram,    "Time from a call to its last word.", kFromFirstEvent};
inline constexpr Family kClientStarted = {
    Type::kCounter, "grpc_client_started_total",      "grpc_service, grpc_method",
    kEveryProgram,  "Calls made of other processes.", kFromFirstEvent};
inline constexpr Family kClientHandled = {Type::kCounter,
                                          "grpc_client_handled_total",
                                          "grpc_service, grpc_method, grpc_code",
                                          kEveryProgram,
                                          "Calls made that ended, by their code.",
                                          kFromFirstEvent};
inline constexpr Family kClientSeconds = {
    Type::kHistogram, "grpc_client_handling_seconds",      "grpc_service, grpc_method",
    kEveryProgram,    "Time from a call made to its end.", kFromFirstEvent};

inline constexpr Family kLimitRefusals = {
    Type::kCounter,
    "kernelmill_limit_refusals_total",
    "limit",
    kEveryProgram,
    "Calls refused because a limit was reached, by the flag that sets it.",
    kFromFirstEvent};  // where a program has no limits, there is none

// ---------------------------------------------------------------- coordinator

inline constexpr Family kJobs = {Type::kGauge, "kernelmill_coordinator_jobs", "state", kCoordinator,
                                 "Jobs."};
inline constexpr Family kOldestJob = {
    Type::kGauge, "kernelmill_coordinator_oldest_job_seconds", "", kCoordinator,
    "Since when the oldest running job was submitted; 0: none runs."};
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
    "Tasks of the running jobs; `sharing`: they follow an equal task, whose result they get."};
inline constexpr Family kOldestReady = {
    Type::kGauge, "kernelmill_coordinator_oldest_ready_seconds", "stage", kCoordinator,
    "Since when the first task in the queue has been ready; 0: none is."};
inline constexpr Family kSuspectTasks = {Type::kGauge, "kernelmill_coordinator_suspect_tasks", "",
                                         kCoordinator,
                                         "Tasks that must run alone, as a worker ended with them."};
inline constexpr Family kLeases = {Type::kGauge, "kernelmill_coordinator_leases", "", kCoordinator,
                                   "Leases held."};
inline constexpr Family kLeasesGranted = {Type::kCounter, "kernelmill_coordinator_leases_total", "",
                                          kCoordinator, "Leases granted."};
inline constexpr Family kCompletions = {Type::kCounter, "kernelmill_coordinator_completions_total",
                                        "outcome", kCoordinator, "Completions handed in."};
inline constexpr Family kQueueSeconds = {Type::kHistogram,
                                         "kernelmill_coordinator_queue_seconds",
                                         "stage",
                                         kCoordinator,
                                         "Time that a task was ready before it was leased.",
                                         kFromStart,
                                         kTakesHours};
inline constexpr Family kLeaseSeconds = {Type::kHistogram,
                                         "kernelmill_coordinator_lease_seconds",
                                         "stage",
                                         kCoordinator,
                                         "Time that a task was leased, however that ended.",
                                         kFromStart,
                                         kTakesHours};
inline constexpr Family kResults = {
    Type::kCounter, "kernelmill_coordinator_results_total", "stage, origin", kCoordinator,
    "Tasks done, by where the result is from: run by a worker, the action cache, shared with an "
    "equal task, the pin history."};
inline constexpr Family kTaskErrors = {
    Type::kCounter, "kernelmill_coordinator_task_errors_total", "stage, code, next", kCoordinator,
    "Attempts that failed, by what was decided then: retry, split or failed."};
inline constexpr Family kLeasesLost = {
    Type::kCounter, "kernelmill_coordinator_leases_lost_total", "stage, reason", kCoordinator,
    "Leases that ended without a word: expired, worker_ended, or cancelled with their job."};
inline constexpr Family kQuarantinedFiles = {
    Type::kCounter, "kernelmill_coordinator_quarantined_files_total", "", kCoordinator,
    "Files and kernels that are not read or compiled any more, as they ended their workers."};
inline constexpr Family kHostTasks = {
    Type::kGauge,
    "kernelmill_coordinator_host_tasks",
    "host, state",
    kCoordinator,
    "Tasks that call on a host, and those that wait for a place there; 50 hosts have names.",
    kFromFirstEvent};
inline constexpr Family kPausedHosts = {Type::kGauge, "kernelmill_coordinator_paused_hosts", "",
                                        kCoordinator, "Hosts that asked to be left alone."};
inline constexpr Family kCommitSeconds = {Type::kHistogram, "kernelmill_coordinator_commit_seconds",
                                          "", kCoordinator,
                                          "Time to write and sync what was decided."};
inline constexpr Family kConnectedWorkers = {
    Type::kGauge, "kernelmill_coordinator_workers", "stage, version, state", kCoordinator,
    "Workers that have the stage, in the version that the coordinator plans with, or in `other`."};
inline constexpr Family kWorkerSlots = {Type::kGauge, "kernelmill_coordinator_worker_slots",
                                        "stage, version", kCoordinator,
                                        "Slots of the connected workers that have the stage."};
inline constexpr Family kUnservedTasks = {
    Type::kGauge, "kernelmill_coordinator_unserved_tasks", "stage", kCoordinator,
    "Ready tasks of a stage that no connected worker can run."};

inline constexpr Family kDatasetFiles = {Type::kCounter, "kernelmill_coordinator_files_total",
                                         "result, reason", kCoordinator,
                                         "Files of the datasets that jobs made."};
inline constexpr Family kDatasetKernels = {
    Type::kCounter, "kernelmill_coordinator_kernels_total", "fate, rule", kCoordinator,
    "Kernels of the datasets that jobs made, by what became of them and the rule that decided."};

// ---------------------------------------------------------------- workers

inline constexpr Family kWorkerTasks = {Type::kCounter, "kernelmill_worker_tasks_total",
                                        "stage, outcome", kWorkers,
                                        "Tasks leased, by what became of them."};
inline constexpr Family kStageSeconds = {Type::kHistogram, "kernelmill_worker_stage_seconds",
                                         "stage", kWorkers,
                                         "Time that a stage took on one action."};

inline constexpr Family kLookupSeconds = {Type::kHistogram, "kernelmill_worker_lookup_seconds",
                                          "stage", kWorkers,
                                          "Time to ask the action cache for one action."};
inline constexpr Family kSlots = {Type::kGauge, "kernelmill_worker_slots", "", kWorkers,
                                  "Tasks that run at a time."};
inline constexpr Family kBusySlots = {Type::kGauge, "kernelmill_worker_busy_slots", "", kWorkers,
                                      "Slots with a task."};
inline constexpr Family kWaitingFor = {
    Type::kGauge, "kernelmill_worker_waiting_for", "peer", kWorkers,
    "1 while the store or the coordinator cannot be reached, or has no room."};

inline constexpr Family kFetchRequests = {
    Type::kCounter,
    "kernelmill_fetcher_requests_total",
    "host, kind, result",
    kFetcher,
    "Times that a host was asked to pin, fetch or search; 50 hosts have names.",
    kFromFirstEvent};
inline constexpr Family kFetchSeconds = {Type::kHistogram, "kernelmill_fetcher_request_seconds",
                                         "kind", kFetcher,
                                         "Time that it took to pin, fetch or search."};
inline constexpr Family kFetchedBytes = {
    Type::kCounter, "kernelmill_fetcher_received_bytes_total", "host", kFetcher, "Bytes received.",
    kFromFirstEvent};
inline constexpr Family kHostPauseSeconds = {
    Type::kCounter, "kernelmill_fetcher_retry_after_seconds_total", "host",
    kFetcher,       "Time that hosts asked to be left alone.",      kFromFirstEvent};
inline constexpr Family kFetchedFiles = {Type::kCounter, "kernelmill_fetcher_files_total",
                                         "result, reason", kFetcher, "Files of fetched sources."};
inline constexpr Family kExtractedFiles = {Type::kCounter, "kernelmill_extractor_files_total",
                                           "result, reason", kExtractor,
                                           "Files that kernels were looked for in."};
inline constexpr Family kFoundKernels = {Type::kCounter, "kernelmill_extractor_kernels_total",
                                         "dsl", kExtractor, "Kernels found."};
inline constexpr Family kCompiledKernels = {
    Type::kCounter, "kernelmill_compiler_kernels_total", "toolchain, target, status", kCompiler,
    "Kernels compiled, once for each toolchain and target, by what the compiler said."};
inline constexpr Family kNotAttempted = {Type::kCounter, "kernelmill_compiler_not_attempted_total",
                                         "reason", kCompiler,
                                         "Kernels that no compiler was asked about, by why."};
inline constexpr Family kCompileSeconds = {
    Type::kHistogram, "kernelmill_compiler_kernel_seconds", "toolchain", kCompiler,
    "Time that a toolchain took on one kernel, all its targets and tries together."};
inline constexpr Family kRefusedKernels = {
    Type::kCounter, "kernelmill_compiler_refused_total", "toolchain, stage", kCompiler,
    "Kernels that did not compile, once for each toolchain and target, by the stage that refused "
    "them: limit and sandbox are bounds that stopped them."};
inline constexpr Family kCompilesLost = {
    Type::kCounter, "kernelmill_compiler_lost_total", "toolchain, reason", kCompiler,
    "Times that nothing came of a kernel, by why: its process was lost, the machine could not, the "
    "toolchain is gone, nobody wanted it any more, or the process said what it should not."};
inline constexpr Family kCompilersStarted = {
    Type::kCounter, "kernelmill_compiler_processes_total", "toolchain", kCompiler,
    "Processes started, each of which loads Triton and forks for kernels until it is lost or has "
    "to be ended."};
inline constexpr Family kValidatedKernels = {
    Type::kCounter, "kernelmill_validator_kernels_total", "verdict, rule", kValidator,
    "Kernels judged, and the first rule that rejected them."};
inline constexpr Family kLicenses = {Type::kCounter, "kernelmill_validator_licenses_total", "kind",
                                     kValidator, "Kernels judged, by where their licence stands."};
inline constexpr Family kDecidedKernels = {Type::kCounter, "kernelmill_deduplicator_kernels_total",
                                           "fate, rule", kDeduplicator, "Kernels decided on."};

// ---------------------------------------------------------------- store

inline constexpr Family kBlobErrors = {
    Type::kCounter, "kernelmill_store_blob_errors_total", "method, code", kStore,
    "Blobs that were answered with an error, in batches that were answered."};
inline constexpr Family kReceivedBytes = {Type::kCounter, "kernelmill_store_received_bytes_total",
                                          "", kStore, "Bytes of content received, as on the wire."};
inline constexpr Family kSentBytes = {Type::kCounter, "kernelmill_store_sent_bytes_total", "",
                                      kStore, "Bytes of content sent, as on the wire."};
inline constexpr Family kLookups = {
    Type::kCounter, "kernelmill_store_lookups_total", "kind, found", kStore,
    "Blobs and action results asked for, and whether they were there."};
inline constexpr Family kBlobs = {Type::kGauge, "kernelmill_store_blobs", "", kStore,
                                  "Blobs kept."};
inline constexpr Family kBlobBytes = {Type::kGauge, "kernelmill_store_blob_bytes", "", kStore,
                                      "Content kept, uncompressed."};
inline constexpr Family kActionResults = {Type::kGauge, "kernelmill_store_action_results", "",
                                          kStore, "Action results kept."};
inline constexpr Family kHolds = {Type::kGauge, "kernelmill_store_holds", "", kStore,
                                  "Holds that keep blobs from being evicted."};
inline constexpr Family kDamagedBlobs = {Type::kGauge, "kernelmill_store_damaged_blobs", "", kStore,
                                         "Blobs known to be damaged."};
inline constexpr Family kDiskBytes = {Type::kGauge, "kernelmill_store_disk_bytes", "", kStore,
                                      "What the database takes on the disk."};
inline constexpr Family kFreeDiskBytes = {Type::kGauge, "kernelmill_store_free_disk_bytes", "",
                                          kStore, "Room on the disk of the database."};
inline constexpr Family kLimitBytes = {Type::kGauge, "kernelmill_store_limit_bytes", "", kStore,
                                       "What the database may take on the disk; 0: no limit."};
inline constexpr Family kEvictions = {Type::kCounter, "kernelmill_store_evictions_total", "kind",
                                      kStore, "Blobs and action results evicted to make room."};
inline constexpr Family kEvictedBytes = {Type::kCounter, "kernelmill_store_evicted_bytes_total", "",
                                         kStore, "Content evicted to make room."};
inline constexpr Family kOpenUploads = {Type::kGauge, "kernelmill_store_open_uploads", "", kStore,
                                        "Uploads in streams that have not ended."};
inline constexpr Family kStagedBytes = {
    Type::kGauge, "kernelmill_store_staged_bytes", "", kStore,
    "What the open uploads come to, by the sizes that their digests claim."};
inline constexpr Family kSyncSeconds = {Type::kHistogram, "kernelmill_store_sync_seconds", "",
                                        kStore, "Time for a write to be durable."};
inline constexpr Family kStallSeconds = {Type::kCounter, "kernelmill_store_stall_seconds_total", "",
                                         kStore, "Time that RocksDB held writes back."};
inline constexpr Family kCompactionBytes = {Type::kCounter,
                                            "kernelmill_store_compaction_bytes_total", "direction",
                                            kStore, "Bytes that compaction read and wrote."};
inline constexpr Family kFlushedBytes = {Type::kCounter, "kernelmill_store_flushed_bytes_total", "",
                                         kStore, "Bytes written from memory to tables."};
inline constexpr Family kPendingCompaction = {
    Type::kGauge, "kernelmill_store_pending_compaction_bytes", "", kStore,
    "What compaction has still to rewrite, as RocksDB estimates it."};
inline constexpr Family kWrittenBytes = {Type::kCounter, "kernelmill_store_written_bytes_total", "",
                                         kStore, "Bytes that RocksDB was asked to write."};

// All of the above, in their order.
absl::Span<const Family* const> AllFamilies();

// docs/metrics.md.
std::string FamiliesAsMarkdown();

}  // namespace kernelmill::metrics

#endif  // KERNELMILL_COMMON_METRICS_FAMILIES_H_
