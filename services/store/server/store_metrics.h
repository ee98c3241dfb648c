#ifndef KERNELMILL_SERVICES_STORE_SERVER_STORE_METRICS_H_
#define KERNELMILL_SERVICES_STORE_SERVER_STORE_METRICS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "common/base/notifier.h"
#include "services/store/core/content_store.h"
#include "services/store/core/garbage_collector.h"
#include "services/store/core/uploads.h"

namespace prometheus {
class Counter;
}  // namespace prometheus

namespace kernelmill::store {

// A counter of errors of single blobs within successful calls. Thread-safe.
class BlobErrors {
 public:
  explicit BlobErrors(const std::string& method);
  void Count(const absl::Status& status);

 private:
  std::array<prometheus::Counter*, 17> errors_;  // by canonical code
};

// Counts a durable write and its duration.
void CountSync(double seconds);

// Count content bytes received and sent, as on the wire.
void CountBytesIn(int64_t bytes);
void CountBytesOut(int64_t bytes);

// A thread that updates the store's gauges and counters every few seconds: content, evictions,
// lookups, open uploads, and the database's work. All arguments must outlive it.
class RetentionMetrics {
 public:
  RetentionMetrics(ContentStore* store, const GarbageCollector* collector, Uploads* uploads);
  ~RetentionMetrics();

 private:
  void Run();
  void Publish();

  ContentStore* const store_;
  const GarbageCollector* const collector_;
  Uploads* const uploads_;
  std::atomic<bool> stopping_{false};
  Notifier stop_;
  std::thread thread_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_SERVER_STORE_METRICS_H_
