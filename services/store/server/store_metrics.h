#ifndef KERNELMILL_SERVICES_STORE_SERVER_STORE_METRICS_H_
#define KERNELMILL_SERVICES_STORE_SERVER_STORE_METRICS_H_

#include <grpcpp/support/status.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "common/base/notifier.h"
#include "services/store/core/content_store.h"
#include "services/store/core/garbage_collector.h"

namespace prometheus {
class Counter;
class Histogram;
}  // namespace prometheus

namespace kernelmill::store {

// Counts the calls of one method by code, and their time. Thread-safe. Looks its instruments up
// once.
class MethodMetrics {
 public:
  explicit MethodMetrics(const std::string& method);

  // Runs a handler's body and counts it; the one place where a status goes to the wire.
  grpc::Status Run(absl::FunctionRef<absl::Status()> body);

 private:
  std::array<prometheus::Counter*, 17> calls_;  // by canonical code
  prometheus::Histogram* seconds_;
};

// Counts the errors of single blobs within calls that succeed. Thread-safe.
class BlobErrors {
 public:
  explicit BlobErrors(const std::string& method);
  void Count(const absl::Status& status);

 private:
  std::array<prometheus::Counter*, 17> errors_;  // by canonical code
};

// Content that came in and went out, as on the wire.
void CountBytesIn(int64_t bytes);
void CountBytesOut(int64_t bytes);

// Publishes, every few seconds while it lives, what is kept and evicted, asked for and found. Both
// must outlive it.
class RetentionMetrics {
 public:
  RetentionMetrics(ContentStore* store, const GarbageCollector* collector);
  ~RetentionMetrics();

 private:
  void Run();
  void Publish();

  ContentStore* const store_;
  const GarbageCollector* const collector_;
  std::atomic<bool> stopping_{false};
  Notifier stop_;
  std::thread thread_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_SERVER_STORE_METRICS_H_
