#include "services/coordinator/core/dispatch/host_limits.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {

int64_t HostLimits::Places() const {
  const int64_t most = limit_ > 0 ? limit_ : std::numeric_limits<int64_t>::max();
  if (slots_ <= 1) return most;
  return std::min(most, slots_ - std::max<int64_t>(1, slots_ / 4));
}

// Takes a place at the host. Returns false if the host is full or paused; the task then waits here,
// in the order of the calls, until TakeRunnable returns it.
bool HostLimits::Take(const std::string& host, uint64_t task, Clock::Time now) {
  if (host.empty()) return true;
  const auto taken = taken_.find(host);
  const bool full = taken != taken_.end() && taken->second >= Places();
  if (full || IsPaused(host, now)) {
    waiting_[host].push_back(task);
    return false;
  }
  ++taken_[host];
  return true;
}

// A shorter pause never cuts a longer one.
void HostLimits::Pause(const std::string& host, Clock::Time until) {
  if (host.empty()) return;
  Clock::Time& pause = pauses_[host];
  pause = std::max(pause, until);
}

bool HostLimits::IsPaused(const std::string& host, Clock::Time now) {
  const auto pause = pauses_.find(host);
  if (pause == pauses_.end()) return false;
  if (pause->second > now) return true;
  pauses_.erase(pause);
  return false;
}

void HostLimits::Drop(uint32_t job) {
  for (auto& [host, tasks] : waiting_) {
    std::erase_if(tasks, [job](uint64_t task) { return TaskJob(task) == job; });
  }
  std::erase_if(waiting_, [](const auto& host) { return host.second.empty(); });
}

void HostLimits::AddTo(HostStats& stats, Clock::Time now) const {
  for (const auto& [host, tasks] : taken_) stats.tasks[host].running += tasks;
  for (const auto& [host, tasks] : waiting_) {
    stats.tasks[host].waiting += static_cast<int64_t>(tasks.size());
  }
  for (const auto& [host, until] : pauses_) stats.paused += until > now ? 1 : 0;
}

void HostLimits::Release(const std::string& host) {
  const auto at = taken_.find(host);
  if (at != taken_.end() && --at->second == 0) taken_.erase(at);
}

// Returns, for each host, as many waiting tasks as have places now. They do not take the places:
// each calls Take again when it is leased, and may wait again if another task was faster.
std::vector<uint64_t> HostLimits::TakeRunnable(Clock::Time now) {
  std::vector<uint64_t> tasks;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    if (IsPaused(at->first, now)) {
      ++at;
      continue;
    }
    const auto taken = taken_.find(at->first);
    int64_t places = Places() - (taken == taken_.end() ? 0 : taken->second);
    for (; places > 0 && !at->second.empty(); --places) {
      tasks.push_back(at->second.front());
      at->second.pop_front();
    }
    at = at->second.empty() ? waiting_.erase(at) : std::next(at);
  }
  return tasks;
}

}  // namespace kernelmill::coordinator
