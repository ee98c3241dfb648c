#include "common/worker/worker_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/thread_annotations.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "common/metrics/metrics.h"
#include "common/worker/stage_table.h"

// Stages count in their results ("kernels.rejected.license"), and not in metrics: a result that
// comes from the cache must have the same counts. Workers turn the counters of stages that they ran
// into metrics; the coordinator turns those of finished datasets into others by the same kind of
// rules.
namespace kernelmill::worker {
namespace {

const char* ToName(Peer peer) { return peer == Peer::kStore ? "store" : "coordinator"; }

// A gauge that is 1 while there are waiters. Thread-safe.
class Waiters {
 public:
  explicit Waiters(Peer peer)
      : gauge_(metrics::Gauge(metrics::kWaitingFor, {{"peer", ToName(peer)}})) {}

  void Add(int waiters) {
    absl::MutexLock lock(&mutex_);
    count_ += waiters;
    gauge_.Set(count_ > 0 ? 1 : 0);
  }

 private:
  prometheus::Gauge& gauge_;
  absl::Mutex mutex_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};

Waiters& WaitersFor(Peer peer) {
  static auto* const store = new Waiters(Peer::kStore);
  static auto* const coordinator = new Waiters(Peer::kCoordinator);
  return peer == Peer::kStore ? *store : *coordinator;
}

}  // namespace

// Creates all series of this worker's stages with 0, so that rates are right from the first event.
void PrefillWorker(const std::vector<Stage*>& stages) {
  for (const Stage* stage : stages) {
    const std::string name(stage->info().name);
    metrics::Prefill(metrics::kWorkerTasks,
                     {{"stage", {name}},
                      {"outcome", {"done", "cached", "error", "handed_back", "lost", "refused"}}});
    metrics::Prefill(metrics::kStageSeconds, {{"stage", {name}}});
    metrics::Prefill(metrics::kLookupSeconds, {{"stage", {name}}});
    PrefillStage(stage->id());
  }
  AddBusySlots(0);
  AddWaiters(Peer::kStore, 0);
  AddWaiters(Peer::kCoordinator, 0);
}

// The stage is a label only if this version knows it, so that a coordinator cannot create any
// series.
void CountTask(const std::string& stage, const char* outcome) {
  metrics::Counter(
      metrics::kWorkerTasks,
      {{"stage", FindStage(stage) == nullptr ? "unknown" : stage}, {"outcome", outcome}})
      .Increment();
}

void AddSlots(int slots) { metrics::Gauge(metrics::kSlots).Increment(slots); }

// Called twice for each task, so the gauge is looked up once.
void AddBusySlots(int slots) {
  static prometheus::Gauge& busy = metrics::Gauge(metrics::kBusySlots);
  busy.Increment(slots);
}

void AddWaiters(Peer peer, int waiters) { WaitersFor(peer).Add(waiters); }

namespace {

// The fates of files and kernels in the names of counters: GROUP.FATE or GROUP.FATE.REASON.
constexpr const char* kFilesFetched[] = {"sharded", "skipped", "failed"};
constexpr const char* kFilesExtracted[] = {"extracted", "failed"};
constexpr const char* kVerdicts[] = {"accepted", "rejected"};
constexpr const char* kFiles[] = {"extracted", "skipped", "failed"};
constexpr const char* kKernels[] = {"kept", "rejected", "duplicate", "contaminated", "holdout"};

// A group of a stage's counters, and its metric. The metric's first label is the fate, the second
// the reason.
struct Rule {
  StageId stage;
  const char* group;
  absl::Span<const char* const> fates;
  const metrics::Family& family;
};

constexpr Rule kStageRules[] = {
    {StageId::kFetch, "files", kFilesFetched, metrics::kFetchedFiles},
    {StageId::kExtract, "files", kFilesExtracted, metrics::kExtractedFiles},
    {StageId::kValidate, "kernels", kVerdicts, metrics::kValidatedKernels},
    {StageId::kResolve, "dataset", kKernels, metrics::kDecidedKernels},
};

constexpr Rule kDatasetRules[] = {
    {StageId::kManifest, "dataset.files", kFiles, metrics::kDatasetFiles},
    {StageId::kResolve, "dataset", kKernels, metrics::kDatasetKernels},
};

// The stage's counters say "sharded" for what users call selected.
metrics::Labels GetLabels(const Rule& rule, absl::string_view fate, std::string reason) {
  const std::pair<std::string, std::string> names = absl::StrSplit(rule.family.labels, ", ");
  return {{names.first, fate == "sharded" ? "selected" : std::string(fate)},
          {names.second, std::move(reason)}};
}

// Bounds the reasons, since workers of other versions may send any.
std::string BoundedReason(absl::string_view reason) {
  static auto* const reasons = new metrics::BoundedLabel(100);
  return reasons->ValueFor(reason);
}

// Turns counters such as "kernels.rejected.license" into metrics by the rules: the group and the
// stage choose the metric, the fate must be one that the rule knows, and the rest is the reason.
void Count(absl::Span<const Rule> rules, StageId stage, const v1::StageResult& result) {
  for (const v1::Counter& counter : result.counters()) {
    for (const Rule& rule : rules) {
      absl::string_view rest = counter.name();
      if (rule.stage != stage || !absl::ConsumePrefix(&rest, rule.group) ||
          !absl::ConsumePrefix(&rest, ".")) {
        continue;
      }
      const std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(rest, absl::MaxSplits('.', 1));
      if (!absl::c_linear_search(rule.fates, parts.first)) continue;
      metrics::Counter(rule.family, GetLabels(rule, parts.first, BoundedReason(parts.second)))
          .Increment(static_cast<double>(counter.value()));
    }
  }
}

// Creates a series for each fate, with "none" as the reason.
void PrefillRules(absl::Span<const Rule> rules, StageId stage) {
  for (const Rule& rule : rules) {
    if (rule.stage != stage) continue;
    for (const char* const fate : rule.fates) {
      metrics::Counter(rule.family, GetLabels(rule, fate, "none"));
    }
  }
}

}  // namespace

void CountStage(StageId stage, const v1::StageResult& result) { Count(kStageRules, stage, result); }

void CountDataset(StageId stage, const v1::StageResult& result) {
  Count(kDatasetRules, stage, result);
}

void PrefillStage(StageId stage) { PrefillRules(kStageRules, stage); }

void PrefillDataset() {
  PrefillRules(kDatasetRules, StageId::kResolve);
  PrefillRules(kDatasetRules, StageId::kManifest);
}

}  // namespace kernelmill::worker
