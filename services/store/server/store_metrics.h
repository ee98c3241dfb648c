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

// Counts the errors of single blobs within calls that succeed. Thread-safe.
class BlobErrors {
 public:
  explicit BlobErrors(const std::string& method);
  void Count(const absl::Status& status);

 private:
  std::array<prometheus::Counter*, 17> errors_;  // by canonical code
};

// A write that took so long to be durable.
void CountSync(double seconds);

// Content that came in and went out, as on the wire.
void CountBytesIn(int64_t bytes);
void CountBytesOut(int64_t bytes);

// Publishes, every few seconds while it lives, what is kept and evicted, asked for and found, on
// its way in, and what the database does for it. All must outlive it.
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
