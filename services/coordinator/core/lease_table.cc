#include "services/coordinator/core/lease_table.h"

namespace kernelmill::coordinator {

void LeaseTable::Put(uint64_t task, uint64_t token, Clock::Time now) {
  Release(task);
  const Clock::Time deadline = now + ttl_;
  leases_[task] = {token, deadline};
  deadlines_.emplace(deadline, task);
}

uint64_t LeaseTable::Grant(uint64_t task, Clock::Time now) {
  const uint64_t token = next_token_++;
  Put(task, token, now);
  return token;
}

void LeaseTable::Restore(uint64_t task, uint64_t token, Clock::Time now) { Put(task, token, now); }

bool LeaseTable::Renew(uint64_t task, uint64_t token, Clock::Time now) {
  if (!Holds(task, token)) return false;
  Put(task, token, now);
  return true;
}

bool LeaseTable::Holds(uint64_t task, uint64_t token) const {
  const auto at = leases_.find(task);
  return at != leases_.end() && at->second.token == token;
}

void LeaseTable::Release(uint64_t task) {
  const auto at = leases_.find(task);
  if (at == leases_.end()) return;
  deadlines_.erase({at->second.deadline, task});
  leases_.erase(at);
}

std::vector<uint64_t> LeaseTable::TakeExpired(Clock::Time now) {
  std::vector<uint64_t> tasks;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    tasks.push_back(deadlines_.begin()->second);
    Release(tasks.back());
  }
  return tasks;
}

}  // namespace kernelmill::coordinator
