#include "services/coordinator/core/dispatch/lease_table.h"

namespace kernelmill::coordinator {

void LeaseTable::Put(uint64_t task, uint64_t token, Clock::Time now, LeaseTerms terms) {
  Release(task);
  const Clock::Time deadline = now + ttl_;
  leases_[task] = {token, deadline, std::move(terms)};
  deadlines_.emplace(deadline, task);
}

uint64_t LeaseTable::Grant(uint64_t task, Clock::Time now, LeaseTerms terms) {
  const uint64_t token = next_token_++;
  Put(task, token, now, std::move(terms));
  return token;
}

void LeaseTable::Restore(uint64_t task, uint64_t token, Clock::Time now, LeaseTerms terms) {
  Put(task, token, now, std::move(terms));
}

bool LeaseTable::Renew(uint64_t task, uint64_t token, Clock::Time now) {
  if (!Holds(task, token)) return false;
  Put(task, token, now, Release(task));
  return true;
}

bool LeaseTable::Holds(uint64_t task, uint64_t token) const {
  const auto at = leases_.find(task);
  return at != leases_.end() && at->second.token == token;
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

std::vector<EndedLease> LeaseTable::TakeOf(uint64_t worker) {
  std::vector<EndedLease> ended;
  for (const auto& [task, lease] : leases_) {
    if (lease.terms.worker == worker) ended.push_back({task, {}});
  }
  for (EndedLease& one : ended) one.terms = Release(one.task);
  return ended;
}

}  // namespace kernelmill::coordinator
