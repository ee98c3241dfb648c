#ifndef KERNELMILL_SERVICES_STORE_SERVER_RETENTION_METRICS_H_
#define KERNELMILL_SERVICES_STORE_SERVER_RETENTION_METRICS_H_

#include <atomic>
#include <thread>

#include "common/base/notifier.h"
#include "services/store/core/collector.h"
#include "services/store/core/content_store.h"

namespace kernelmill::store {

// Publishes, every few seconds while it lives, what is kept and dropped, asked for and found. Both
// must outlive it.
class RetentionMetrics {
 public:
  RetentionMetrics(ContentStore* store, const Collector* collector);
  ~RetentionMetrics();

 private:
  void Run();
  void Publish();

  ContentStore* const store_;
  const Collector* const collector_;
  std::atomic<bool> stopping_{false};
  Notifier stop_;
  std::thread thread_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_SERVER_RETENTION_METRICS_H_
