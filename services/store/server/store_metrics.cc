#include "services/store/server/store_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include <chrono>

#include "absl/time/time.h"
#include "common/metrics/metrics.h"
#include "common/rpc/status.h"

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

MethodMetrics::MethodMetrics(const std::string& method)
    : seconds_(&metrics::Seconds("kernelmill_store_request_seconds", "Time to answer a request.",
                                 {{"method", method}})) {
  for (size_t code = 0; code < calls_.size(); ++code) {
    calls_[code] = &metrics::Counter(
        "kernelmill_store_requests_total", "Requests answered.",
        {{"method", method},
         {"code", absl::StatusCodeToString(static_cast<absl::StatusCode>(code))}});
  }
}

grpc::Status MethodMetrics::Run(absl::FunctionRef<absl::Status()> body) {
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status = body();
  seconds_->Observe(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  calls_[static_cast<size_t>(status.code()) % calls_.size()]->Increment();
  return rpc::ToGrpcStatus(status);
}

BlobErrors::BlobErrors(const std::string& method) {
  for (size_t code = 0; code < errors_.size(); ++code) {
    errors_[code] = &metrics::Counter(
        "kernelmill_store_blob_errors_total",
        "Blobs that were answered with an error, in calls that succeeded.",
        {{"method", method},
         {"code", absl::StatusCodeToString(static_cast<absl::StatusCode>(code))}});
  }
}

void BlobErrors::Count(const absl::Status& status) {
  if (!status.ok()) errors_[static_cast<size_t>(status.code()) % errors_.size()]->Increment();
}

void CountBytesIn(int64_t bytes) {
  static prometheus::Counter& counter = metrics::Counter(
      "kernelmill_store_received_bytes_total", "Bytes of content received, as on the wire.");
  counter.Increment(static_cast<double>(bytes));
}

void CountBytesOut(int64_t bytes) {
  static prometheus::Counter& counter = metrics::Counter("kernelmill_store_sent_bytes_total",
                                                         "Bytes of content sent, as on the wire.");
  counter.Increment(static_cast<double>(bytes));
}

RetentionMetrics::RetentionMetrics(ContentStore* store, const GarbageCollector* collector)
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
  LruStore& lru = store_->lru();
  const Usage usage = lru.blobs().usage();
  SetGauge("kernelmill_store_blobs", "Blobs kept.", usage.blobs);
  SetGauge("kernelmill_store_blob_bytes", "Content kept, uncompressed.", usage.blob_bytes);
  SetGauge("kernelmill_store_action_results", "Action results kept.", usage.results);
  SetGauge("kernelmill_store_limit_bytes", "What the database may take; 0: no limit.",
           lru.admission().limit());
  SetGauge("kernelmill_store_holds", "Holds that keep blobs from being evicted.",
           lru.holds().size());
  SetGauge("kernelmill_store_damaged_blobs", "Blobs known to be damaged.", lru.damaged());
  if (const absl::StatusOr<Space> space = lru.disk().Measure(); space.ok()) {
    SetGauge("kernelmill_store_disk_bytes", "What the database takes.", space->disk_bytes);
    SetGauge("kernelmill_store_free_disk_bytes", "Room on the disk of the database.",
             space->free_bytes);
  }
  const Collected evicted = collector_->total();
  const std::string name = "kernelmill_store_evictions_total";
  const std::string help = "Blobs and action results evicted to make room.";
  RaiseCounter(name, help, evicted.blobs, {{"kind", "blob"}});
  RaiseCounter(name, help, evicted.results, {{"kind", "result"}});
  RaiseCounter("kernelmill_store_evicted_bytes_total", "Content evicted to make room.",
               evicted.bytes);
  PublishQuestions(store_->counters());
}

}  // namespace kernelmill::store
