#include "services/store/server/retention_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "common/metrics/metrics.h"

namespace kernelmill::store {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(5);

void SetGauge(const std::string& name, const std::string& help, double value) {
  metrics::Gauge(name, help).Set(value);
}

// Brings a counter, which only this process moves, up to a sum that is kept elsewhere.
void RaiseCounter(const std::string& name, const std::string& help, double sum,
                  const metrics::Labels& labels = {}) {
  prometheus::Counter& counter = metrics::Counter(name, help, labels);
  if (const double more = sum - counter.Value(); more > 0) counter.Increment(more);
}

void PublishQuestions(const StoreCounters& counters) {
  const std::string name = "kernelmill_store_lookups_total";
  const std::string help = "Blobs and action results asked for, and whether they were there.";
  RaiseCounter(name, help, counters.blobs_found, {{"kind", "blob"}, {"found", "true"}});
  RaiseCounter(name, help, counters.blobs_missing, {{"kind", "blob"}, {"found", "false"}});
  RaiseCounter(name, help, counters.results_found, {{"kind", "result"}, {"found", "true"}});
  RaiseCounter(name, help, counters.results_missing, {{"kind", "result"}, {"found", "false"}});
}

}  // namespace

RetentionMetrics::RetentionMetrics(ContentStore* store, const Collector* collector)
    : store_(store), collector_(collector), thread_([this] { Run(); }) {}

RetentionMetrics::~RetentionMetrics() {
  stopping_ = true;
  stop_.Notify();
  thread_.join();
}

void RetentionMetrics::Run() {
  while (!stopping_) {
    const uint64_t seen = stop_.generation();
    Publish();
    if (!stopping_) stop_.WaitFor(seen, kInterval);
  }
}

void RetentionMetrics::Publish() {
  Keeper& keeper = store_->keeper();
  const Usage usage = keeper.storage().usage();
  SetGauge("kernelmill_store_blobs", "Blobs kept.", usage.blobs);
  SetGauge("kernelmill_store_blob_bytes", "Content kept, uncompressed.", usage.blob_bytes);
  SetGauge("kernelmill_store_action_results", "Action results kept.", usage.results);
  SetGauge("kernelmill_store_limit_bytes", "What the database may take; 0: no limit.",
           keeper.admission().limit());
  SetGauge("kernelmill_store_holds", "Holds that keep blobs from being dropped.",
           keeper.holds().size());
  SetGauge("kernelmill_store_damaged_blobs", "Blobs known to be damaged.", keeper.damaged());
  if (const absl::StatusOr<Space> space = keeper.storage().MeasureSpace(); space.ok()) {
    SetGauge("kernelmill_store_disk_bytes", "What the database takes.", space->disk_bytes);
    SetGauge("kernelmill_store_free_disk_bytes", "Room on the disk of the database.",
             space->free_bytes);
  }
  const Collected dropped = collector_->total();
  const std::string name = "kernelmill_store_evictions_total";
  const std::string help = "Blobs and action results dropped to make room.";
  RaiseCounter(name, help, dropped.blobs, {{"kind", "blob"}});
  RaiseCounter(name, help, dropped.results, {{"kind", "result"}});
  RaiseCounter("kernelmill_store_evicted_bytes_total", "Content dropped to make room.",
               dropped.bytes);
  PublishQuestions(store_->counters());
}

}  // namespace kernelmill::store
