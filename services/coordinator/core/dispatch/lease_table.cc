#include "services/coordinator/core/dispatch/lease_table.h"

#include <random>

namespace kernelmill::coordinator {

// Returns a number that a worker cannot guess. A token names one lease of a task: a worker that
// lost its lease cannot complete the task with an old token. 0 means "no lease".
uint64_t RandomToken() {
  static std::random_device device;  // libstdc++ uses the processor's or the kernel's generator
  static_assert(std::random_device::max() == 0xffffffff);
  while (true) {
    const uint64_t token = (uint64_t{device()} << 32) | device();
    if (token != 0) return token;
  }
}

// leases_ and deadlines_ have the same tasks: each lease has one entry (deadline, task), so that
// expiry looks only at the front of the set. All operations take O(log n), except TakeByWorker.
void LeaseTable::Put(uint64_t task, uint64_t token, Clock::Time now, LeaseTerms terms) {
  Release(task);
  const Clock::Time deadline = now + ttl_;
  leases_[task] = {token, deadline, std::move(terms)};
  deadlines_.emplace(deadline, task);
}

uint64_t LeaseTable::Grant(uint64_t task, Clock::Time now, LeaseTerms terms) {
  const uint64_t token = RandomToken();
  Put(task, token, now, std::move(terms));
  return token;
}

void LeaseTable::Restore(uint64_t task, uint64_t token, Clock::Time now, LeaseTerms terms) {
  Put(task, token, now, std::move(terms));
}

bool LeaseTable::Renew(uint64_t task, uint64_t token, const std::string& caller, Clock::Time now) {
  if (!Holds(task, token, caller)) return false;
  Put(task, token, now, Release(task));
  return true;
}

// A lease that was restored after a restart has no caller; the token alone proves it.
bool LeaseTable::Holds(uint64_t task, uint64_t token, const std::string& caller) const {
  const auto at = leases_.find(task);
  if (at == leases_.end() || at->second.token != token) return false;
  const std::string& holder = at->second.terms.caller;
  return holder.empty() || holder == caller;
}

LeaseTerms LeaseTable::Release(uint64_t task) {
  const auto at = leases_.find(task);
  if (at == leases_.end()) return {};
  LeaseTerms terms = std::move(at->second.terms);
  deadlines_.erase({at->second.deadline, task});
  leases_.erase(at);
  return terms;
}

std::vector<EndedLease> LeaseTable::TakeExpired(Clock::Time now) {
  std::vector<EndedLease> ended;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const uint64_t task = deadlines_.begin()->second;
    ended.push_back({task, Release(task)});
  }
  return ended;
}

// Looks at all leases, because a worker ends rarely compared with the changes that an index by
// worker would need.
std::vector<EndedLease> LeaseTable::TakeByWorker(uint64_t worker) {
  std::vector<EndedLease> ended;
  for (const auto& [task, lease] : leases_) {
    if (lease.terms.worker == worker) ended.push_back({task, {}});
  }
  for (EndedLease& one : ended) one.terms = Release(one.task);
  return ended;
}

}  // namespace kernelmill::coordinator
