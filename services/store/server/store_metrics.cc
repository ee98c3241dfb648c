#include "services/store/server/store_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include "absl/time/time.h"
#include "common/metrics/metrics.h"

namespace kernelmill::store {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(5);

void SetGauge(const metrics::Family& family, double value) { metrics::Gauge(family).Set(value); }

// The store counts by itself; RaiseTo moves a counter of Prometheus up to such a sum.
void PublishQuestions(const StoreCounters& counters) {
  const auto raise = [](double sum, const char* kind, const char* found) {
    metrics::RaiseTo(sum, metrics::Counter(metrics::kLookups, {{"kind", kind}, {"found", found}}));
  };
  raise(counters.blobs_found, "blob", "true");
  raise(counters.blobs_missing, "blob", "false");
  raise(counters.results_found, "result", "true");
  raise(counters.results_missing, "result", "false");
}

void PublishEffort(const Effort& effort) {
  metrics::RaiseTo(effort.stalled_seconds, metrics::Counter(metrics::kStallSeconds));
  metrics::RaiseTo(effort.compaction_read,
                   metrics::Counter(metrics::kCompactionBytes, {{"direction", "read"}}));
  metrics::RaiseTo(effort.compaction_written,
                   metrics::Counter(metrics::kCompactionBytes, {{"direction", "written"}}));
  metrics::RaiseTo(effort.flushed, metrics::Counter(metrics::kFlushedBytes));
  metrics::RaiseTo(effort.written, metrics::Counter(metrics::kWrittenBytes));
  SetGauge(metrics::kPendingCompaction, effort.pending_compaction);
}

}  // namespace

// Looks up one counter for each status code, so that counting an error takes no lock and no lookup.
BlobErrors::BlobErrors(const std::string& method) {
  for (size_t code = 0; code < errors_.size(); ++code) {
    errors_[code] = &metrics::Counter(
        metrics::kBlobErrors,
        {{"method", method},
         {"code", absl::StatusCodeToString(static_cast<absl::StatusCode>(code))}});
  }
}

void BlobErrors::Count(const absl::Status& status) {
  if (!status.ok()) errors_[static_cast<size_t>(status.code()) % errors_.size()]->Increment();
}

void CountBytesIn(int64_t bytes) {
  static prometheus::Counter& counter = metrics::Counter(metrics::kReceivedBytes);
  counter.Increment(static_cast<double>(bytes));
}

void CountBytesOut(int64_t bytes) {
  static prometheus::Counter& counter = metrics::Counter(metrics::kSentBytes);
  counter.Increment(static_cast<double>(bytes));
}

void CountSync(double seconds) {
  static prometheus::Histogram& syncs = metrics::Histogram(metrics::kSyncSeconds);
  syncs.Observe(seconds);
}

RetentionMetrics::RetentionMetrics(ContentStore* store, const GarbageCollector* collector,
                                   Uploads* uploads)
    : store_(store), collector_(collector), uploads_(uploads) {
  metrics::Prefill(metrics::kSyncSeconds);
  metrics::Prefill(metrics::kReceivedBytes);
  metrics::Prefill(metrics::kSentBytes);
  thread_ = std::thread([this] { Run(); });
}

RetentionMetrics::~RetentionMetrics() {
  stopping_ = true;
  stop_.Notify();
  thread_.join();
}

// Publishes every kInterval in its own thread. `seen` is taken before the work, so that a stop
// during Publish ends the wait at once.
void RetentionMetrics::Run() {
  while (!stopping_) {
    const uint64_t seen = stop_.generation();
    Publish();
    if (!stopping_) stop_.WaitFor(seen, kInterval);
  }
}

void RetentionMetrics::Publish() {
  LruStore& lru = store_->lru();
  const Usage usage = lru.blobs().usage();
  SetGauge(metrics::kBlobs, usage.blobs);
  SetGauge(metrics::kBlobBytes, usage.blob_bytes);
  SetGauge(metrics::kActionResults, usage.results);
  SetGauge(metrics::kActionResultBytes, usage.result_bytes);
  SetGauge(metrics::kLimitBytes, lru.admission().limit());
  SetGauge(metrics::kRefusesWrites, lru.admission().HasRoom().ok() ? 0 : 1);
  SetGauge(metrics::kHolds, lru.holds().size());
  SetGauge(metrics::kDamagedBlobs, lru.damaged());
  if (const absl::StatusOr<Space> space = lru.disk().Measure(); space.ok()) {
    SetGauge(metrics::kDiskBytes, space->disk_bytes);
    SetGauge(metrics::kFreeDiskBytes, space->free_bytes);
  }
  const Collected evicted = collector_->total();
  metrics::RaiseTo(evicted.blobs, metrics::Counter(metrics::kEvictions, {{"kind", "blob"}}));
  metrics::RaiseTo(evicted.results, metrics::Counter(metrics::kEvictions, {{"kind", "result"}}));
  metrics::RaiseTo(evicted.bytes, metrics::Counter(metrics::kEvictedBytes));
  PublishQuestions(store_->counters());
  PublishEffort(lru.disk().effort());
  const Uploads::Open open = uploads_->open();
  SetGauge(metrics::kOpenUploads, open.uploads);
  SetGauge(metrics::kStagedBytes, open.bytes);
}

}  // namespace kernelmill::store
