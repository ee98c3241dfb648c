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

// A thread that renews a worker's leases and knows which are lost. Each lease is renewed after a
// third of its time to live, and at least every few seconds, so that the worker soon learns of
// cancelled tasks. If the coordinator does not answer, no lease is lost: the coordinator decides
// when it is back. Thread-safe.
class LeaseRenewer {
 public:
  // `queue` must outlive it.
  LeaseRenewer(WorkQueue& queue, std::string worker);
  ~LeaseRenewer();

  // Renews the lease until Release().
  void Hold(const v1::LeasedTask& task);
  void Release(const v1::LeaseRef& lease);
  // Tells the coordinator, now and with each renewal, what the task waits for; empty: nothing.
  void SetWaiting(const v1::LeaseRef& lease, const std::string& waits_for);
  // Returns whether the lease is lost or not held.
  bool IsLost(const v1::LeaseRef& lease) const;
  // Returns a stop token that is triggered when the lease is lost; already triggered if it is not
  // held.
  std::stop_token GetStopToken(const v1::LeaseRef& lease) const;

  // Marks all leases as lost, also later ones. Returns the held leases, to be handed back.
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
  // Returns the leases that are due, and sets their next due time.
  Due TakeDue(Time now) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Duration UntilDue(Time now) ABSL_LOCKS_EXCLUDED(mutex_);
  void Renew(const std::vector<v1::LeaseRef>& leases, const std::string& waits_for);

  WorkQueue& queue_;
  const std::string worker_;
  Notifier wake_;
  Notifier lost_;
  mutable absl::Mutex mutex_;
  std::map<uint64_t, Held> held_ ABSL_GUARDED_BY(mutex_);  // by task
  Time next_wake_ ABSL_GUARDED_BY(mutex_);                 // when the thread wakes by itself
  bool given_up_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_LEASE_RENEWER_H_
