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
  kWorkers = kFetcher | kExtractor | kValidator | kDeduplicator,
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
};

inline constexpr bool kFromFirstEvent = false;

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

// ---------------------------------------------------------------- coordinator

inline constexpr Family kJobs = {Type::kGauge, "kernelmill_coordinator_jobs", "state", kCoordinator,
                                 "Jobs."};
inline constexpr Family kTasks = {Type::kGauge, "kernelmill_coordinator_tasks", "stage, state",
                                  kCoordinator, "Tasks of the running jobs."};
inline constexpr Family kLeases = {Type::kGauge, "kernelmill_coordinator_leases", "", kCoordinator,
                                   "Leases held."};
inline constexpr Family kLeasesGranted = {Type::kCounter, "kernelmill_coordinator_leases_total", "",
                                          kCoordinator, "Leases granted."};
inline constexpr Family kCompletions = {Type::kCounter, "kernelmill_coordinator_completions_total",
                                        "outcome", kCoordinator, "Completions handed in."};
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

inline constexpr Family kWorkerTasks = {Type::kCounter, "kernelmill_worker_tasks_total", "outcome",
                                        kWorkers, "Tasks leased, by what became of them."};
inline constexpr Family kStageSeconds = {Type::kHistogram, "kernelmill_worker_stage_seconds",
                                         "stage", kWorkers,
                                         "Time that a stage took on one action."};

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
inline constexpr Family kValidatedKernels = {
    Type::kCounter, "kernelmill_validator_kernels_total", "verdict, rule", kValidator,
    "Kernels judged, and the first rule that rejected them."};
inline constexpr Family kLicenses = {Type::kCounter, "kernelmill_validator_licenses_total", "kind",
                                     kValidator, "Kernels judged, by where their licence stands."};
inline constexpr Family kDecidedKernels = {Type::kCounter, "kernelmill_deduplicator_kernels_total",
                                           "fate, rule", kDeduplicator, "Kernels decided on."};

// ---------------------------------------------------------------- store

inline constexpr Family kStoreRequests = {Type::kCounter, "kernelmill_store_requests_total",
                                          "method, code", kStore, "Requests answered."};
inline constexpr Family kStoreSeconds = {Type::kHistogram, "kernelmill_store_request_seconds",
                                         "method", kStore, "Time to answer a request."};
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

// All of the above, in their order.
absl::Span<const Family* const> AllFamilies();

// docs/metrics.md.
std::string FamiliesAsMarkdown();

}  // namespace kernelmill::metrics

#endif  // KERNELMILL_COMMON_METRICS_FAMILIES_H_
