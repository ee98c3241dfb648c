#include "common/metrics/families.h"

#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace kernelmill::metrics {
namespace {

constexpr const Family* kFamilies[] = {
    // Every process.
    &kBuildInfo, &kLogLines, &kProcessCpu, &kProcessMemory, &kProcessVirtual, &kProcessFiles,
    &kProcessMaxFiles, &kProcessThreads, &kProcessStart, &kServerStarted, &kServerHandled,
    &kServerSeconds, &kClientStarted, &kClientHandled, &kClientSeconds, &kLimitRefusals,
    &kConnections, &kConnectionsRefused, &kStalledAnswers,
    // The coordinator.
    &kJobs, &kOldestJob, &kJobsEnded, &kJobSeconds, &kTasks, &kOldestReady, &kSuspectTasks,
    &kLeases, &kLeasesGranted, &kCompletions, &kQueueSeconds, &kLeaseSeconds, &kResults,
    &kTaskErrors, &kLeasesLost, &kQuarantinedFiles, &kHostTasks, &kPausedHosts, &kCommitSeconds,
    &kConnectedWorkers, &kWorkerSlots, &kUnservedTasks, &kDatasetFiles, &kDatasetKernels,
    // Workers.
    &kWorkerTasks, &kStageSeconds, &kLookupSeconds, &kSlots, &kBusySlots, &kWaitingFor,
    &kFetchRequests, &kFetchSeconds, &kFetchedBytes, &kHostPauseSeconds, &kFetchedFiles,
    &kExtractedFiles, &kFoundKernels, &kCompiledKernels, &kNotAttempted, &kCompileSeconds,
    &kRefusedKernels, &kCompilesLost, &kCompilersStarted, &kRunCases, &kValidatedKernels,
    &kLicenses, &kDecidedKernels,
    // The store.
    &kBlobErrors, &kReceivedBytes, &kSentBytes, &kLookups, &kBlobs, &kBlobBytes, &kActionResults,
    &kActionResultBytes, &kHolds, &kDamagedBlobs, &kDiskBytes, &kFreeDiskBytes, &kLimitBytes,
    &kRefusesWrites, &kEvictions, &kEvictedBytes, &kOpenUploads, &kStagedBytes, &kSyncSeconds,
    &kStallSeconds, &kCompactionBytes, &kFlushedBytes, &kPendingCompaction, &kWrittenBytes};

struct Group {
  uint8_t programs;
  const char* name;
};
// The sections of the page, by the programs that have the family.
constexpr Group kGroups[] = {
    {kEveryProgram, "Every process"},
    {kCoordinator, "Coordinator"},
    {kStore, "Store"},
    {kWorkers, "Workers"},
    {kFetcher, "Fetcher"},
    {kExtractor, "Extractor"},
    {kCompiler, "Compiler"},
    {kRunner, "Runner"},
    {kValidator, "Validator"},
    {kDeduplicator, "Deduplicator"},
};

const char* TypeName(Type type) {
  switch (type) {
    case Type::kCounter:
      return "counter";
    case Type::kGauge:
      return "gauge";
    case Type::kHistogram:
      return "histogram";
  }
  return "";
}

// Returns a row of the Markdown table. A star marks a family whose series do not exist from the
// start.
std::string Row(const Family& family) {
  std::string labels = family.labels;
  if (!labels.empty()) {
    labels = absl::StrCat("`", absl::StrReplaceAll(labels, {{", ", "`, `"}}), "`");
  }
  return absl::StrCat("| `", family.name, "` | ", TypeName(family.type), " | ", labels, " | ",
                      family.help, family.from_start ? "" : " *", " |\n");
}

constexpr char kHead[] =
    "# Metrics\n\n"
    "Every process serves metrics at `GET /metrics` ([ports](../cluster.md#processes)), in "
    "Prometheus's text format or, if the\nclient accepts it, in OpenMetrics with exemplars that "
    "name a job and a task. Series exist from the start, with 0, except\nthose marked *, which "
    "appear with their first event. Histograms are in seconds.\n\n"
    "This page is generated from the table in [families.h](../../common/metrics/families.h): "
    "`KERNELMILL_WRITE_METRICS=1\nbuild/release/common/metrics/common_metrics_test` writes it.\n";

}  // namespace

absl::Span<const Family* const> AllFamilies() { return kFamilies; }

// Groups without a family have no section. A test compares the result with the page in docs/.
std::string FamiliesAsMarkdown() {
  std::string text = kHead;
  for (const Group& group : kGroups) {
    std::string rows;
    for (const Family* family : kFamilies) {
      if (family->programs == group.programs) absl::StrAppend(&rows, Row(*family));
    }
    if (rows.empty()) continue;
    absl::StrAppend(&text, "\n## ", group.name,
                    "\n\n| metric | type | labels | description |\n|---|---|---|---|\n", rows);
  }
  return text;
}

}  // namespace kernelmill::metrics
