#ifndef KERNELMILL_COMMON_WORKER_LEASE_RENEWER_H_
#define KERNELMILL_COMMON_WORKER_LEASE_RENEWER_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/base/notifier.h"
#include "common/worker/work_queue.h"
#include "kernelmill/v1/work.pb.h"

namespace kernelmill::worker {

// Renews a worker's leases from one thread, each when a third of its time to live has passed and
// every few seconds at least, so that a task which is no longer wanted is known soon; knows which
// are lost. A coordinator that does not answer loses nothing yet: it decides when it is back.
// Thread-safe.
class LeaseRenewer {
 public:
  // `queue` must outlive it.
  LeaseRenewer(WorkQueue& queue, std::string worker);
  ~LeaseRenewer();

  // Keeps the lease until Release().
  void Hold(const v1::LeasedTask& task);
  void Release(const v1::LeaseRef& lease);
  // Has the coordinator told, now and with each renewal, what the task waits for; empty: nothing.
  void SetWaiting(const v1::LeaseRef& lease, const std::string& waits_for);
  // Whether the lease is lost, or is not held.
  bool IsLost(const v1::LeaseRef& lease) const;
  // Of which a stop is requested when the lease is lost; at once if it is not held.
  std::stop_token TokenOf(const v1::LeaseRef& lease) const;

  // From now on counts every lease as lost, later ones too; returns those held, to be handed back.
  std::vector<v1::LeaseRef> GiveUp();

  // Notified when leases are lost.
  const Notifier& lost() const { return lost_; }

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Held {
    uint64_t token = 0;
    std::chrono::milliseconds period{0};
    Time due;
    bool lost = false;
    std::stop_source stop;
    std::string waits_for;
  };
  using Due = std::map<std::string, std::vector<v1::LeaseRef>>;  // by what they wait for

  void Run();
  // The leases that are due, each due again a period later.
  Due TakeDue(Time now) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Duration UntilDue(Time now) ABSL_LOCKS_EXCLUDED(mutex_);
  void Renew(const std::vector<v1::LeaseRef>& leases, const std::string& waits_for);

  WorkQueue& queue_;
  const std::string worker_;
  Notifier wake_;
  Notifier lost_;
  mutable absl::Mutex mutex_;
  std::map<uint64_t, Held> held_ ABSL_GUARDED_BY(mutex_);  // by task
  Time next_wake_ ABSL_GUARDED_BY(mutex_);  // of the thread, if nobody wakes it before
  bool given_up_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_LEASE_RENEWER_H_
