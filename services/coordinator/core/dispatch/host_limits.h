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

// How many tasks call on one host at a time, and since when none may. The empty host has no limit
// and no pause. Not thread-safe.
class HostLimits {
 public:
  // 0: no limit.
  explicit HostLimits(int limit) : limit_(limit) {}

  // Takes a place for the task. False: all are taken, or the host wants to be left alone, and the
  // task waits for TakeRunnable().
  bool Take(const std::string& host, uint64_t task, Clock::Time now);
  void Release(const std::string& host);
  // The host is left alone until then, or longer if that was said before.
  void Pause(const std::string& host, Clock::Time until);
  // Removes and returns tasks that wait, as many as there are places: the longest waiting first.
  // They have no place yet.
  std::vector<uint64_t> TakeRunnable(Clock::Time now);
  void AddTo(HostStats& stats, Clock::Time now) const;

 private:
  // Forgets a pause that is over.
  bool IsPaused(const std::string& host, Clock::Time now);

  const int limit_;
  std::map<std::string, Clock::Time> pauses_;
  std::map<std::string, int> taken_;
  std::map<std::string, std::deque<uint64_t>> waiting_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_HOST_LIMITS_H_
