#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_HOST_LIMITS_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_HOST_LIMITS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "services/coordinator/core/jobs/queue_stats.h"
#include "services/coordinator/core/state/clock.h"

namespace kernelmill::coordinator {

// The limits on the tasks that use one host at a time, and the pauses that hosts request. A host
// never gets all slots: one that answers slowly would hold them, and other hosts' tasks would wait.
// The empty host has no limit and no pause. Not thread-safe.
class HostLimits {
 public:
  // 0: no limit.
  explicit HostLimits(int limit) : limit_(limit) {}

  // Sets the number of slots that the tasks share. A quarter of them, and at least one of several,
  // is closed to each host. 0, the default: unknown, and all are open.
  void SetSlots(int64_t slots) { slots_ = slots; }

  // Takes a place for the task. Returns false if all are taken or the host is paused; the task then
  // waits for TakeRunnable().
  bool Take(const std::string& host, uint64_t task, Clock::Time now);
  void Release(const std::string& host);
  // Pauses the host until `until`, or longer if an earlier pause is longer.
  void Pause(const std::string& host, Clock::Time until);
  // Removes and returns as many waiting tasks as there are free places, the longest waiting first.
  // They do not have a place yet.
  std::vector<uint64_t> TakeRunnable(Clock::Time now);
  // Forgets the waiting tasks of a job: the next run has other tasks under their ids.
  void Drop(uint32_t job);
  void AddTo(HostStats& stats, Clock::Time now) const;

 private:
  // Returns whether the host is paused; forgets a pause that is over.
  bool IsPaused(const std::string& host, Clock::Time now);

  // Returns how many tasks may use one host at a time.
  int64_t Places() const;

  const int limit_;
  int64_t slots_ = 0;
  std::map<std::string, Clock::Time> pauses_;
  std::map<std::string, int> taken_;
  std::map<std::string, std::deque<uint64_t>> waiting_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_HOST_LIMITS_H_
