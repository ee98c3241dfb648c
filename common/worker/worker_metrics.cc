#include "common/worker/worker_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/metrics/metrics.h"
#include "common/worker/stage_metrics.h"
#include "common/worker/stage_table.h"

namespace kernelmill::worker {
namespace {

const char* NameOf(Peer peer) { return peer == Peer::kStore ? "store" : "coordinator"; }

// Shows 1 while anybody waits.
class Waiters {
 public:
  explicit Waiters(Peer peer)
      : gauge_(metrics::Gauge(metrics::kWaitingFor, {{"peer", NameOf(peer)}})) {}

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

void CountTask(const std::string& stage, const char* outcome) {
  metrics::Counter(
      metrics::kWorkerTasks,
      {{"stage", FindStage(stage) == nullptr ? "unknown" : stage}, {"outcome", outcome}})
      .Increment();
}

void AddSlots(int slots) { metrics::Gauge(metrics::kSlots).Increment(slots); }

void AddBusySlots(int slots) {
  static prometheus::Gauge& busy = metrics::Gauge(metrics::kBusySlots);
  busy.Increment(slots);
}

void AddWaiters(Peer peer, int waiters) { WaitersFor(peer).Add(waiters); }

}  // namespace kernelmill::worker
