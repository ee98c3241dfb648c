#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_RETENTION_RETENTION_THREAD_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_RETENTION_RETENTION_THREAD_H_

#include <atomic>
#include <thread>

#include "common/base/notifier.h"
#include "services/coordinator/core/retention/retention.h"

namespace kernelmill::coordinator {

// Steps a Retention on a thread of its own, for as long as it lives: a store that hangs holds up
// nothing else. Thread-safe.
class RetentionThread {
 public:
  // `retention` must outlive it, and be used by nobody else.
  explicit RetentionThread(Retention& retention);
  ~RetentionThread();

  // The jobs have changed: step now.
  void Wake() { changed_.Notify(); }

 private:
  void Run();

  Retention& retention_;
  Notifier changed_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_RETENTION_RETENTION_THREAD_H_
