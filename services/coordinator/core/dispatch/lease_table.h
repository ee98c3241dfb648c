#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_LEASE_TABLE_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_LEASE_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "services/coordinator/core/dispatch/worker_registry.h"
#include "services/coordinator/core/plan/task.h"
#include "services/coordinator/core/state/clock.h"

namespace kernelmill::coordinator {

// What is remembered with a lease.
struct LeaseTerms {
  uint64_t worker = 0;  // the worker's run, as WorkerRegistry names it
  bool alone = false;   // the worker runs nothing beside it
  std::string action;   // that it leads; empty: none
  std::string host;     // at which it has a place; empty: none
  std::string caller;   // that it was leased to, as LeaseQuery has it; empty: whoever has the token
  std::string name;     // of the worker; empty: it gave none, or the lease is from before a restart
  int64_t leased_unix_ms = 0;  // or when it was taken up after a restart

  WorkerId holder() const { return {caller, name}; }
};

struct EndedLease {
  uint64_t task = 0;
  LeaseTerms terms;
};

// Gives a token that nobody can guess, never 0; from the kernel's random numbers.
uint64_t RandomToken();

// Who may complete which task, and until when. Every lease has a token, the fence: no other lease
// has the same, and nobody can guess it, so that only who was given it can hand in the result. Not
// thread-safe.
class LeaseTable {
 public:
  struct Lease {
    uint64_t token;
    Clock::Time deadline;
    LeaseTerms terms;
  };

  explicit LeaseTable(Clock::Duration ttl) : ttl_(ttl) {}

  // Leases the task anew, for the full time to live; returns the token.
  uint64_t Grant(uint64_t task, Clock::Time now, LeaseTerms terms = {});
  // Takes up a lease that an earlier run granted, for the full time to live.
  void Restore(uint64_t task, uint64_t token, Clock::Time now, LeaseTerms terms = {});
  // Extends a lease. False: the caller does not hold it.
  bool Renew(uint64_t task, uint64_t token, const std::string& caller, Clock::Time now);
  // Null: it is not leased.
  const LeaseTerms* TermsOf(uint64_t task) const {
    const auto at = leases_.find(task);
    return at == leases_.end() ? nullptr : &at->second.terms;
  }
  // Whether the token is the task's, and the caller the one that it was leased to.
  bool Holds(uint64_t task, uint64_t token, const std::string& caller) const;
  // Ends a lease; none is no error.
  LeaseTerms Release(uint64_t task);
  // Removes and returns the leases that have run out, the oldest deadline first.
  std::vector<EndedLease> TakeExpired(Clock::Time now);
  // Likewise those of a worker's run.
  std::vector<EndedLease> TakeOf(uint64_t worker);

  size_t size() const { return leases_.size(); }
  Clock::Duration ttl() const { return ttl_; }
  // By task.
  const std::map<uint64_t, Lease>& leases() const { return leases_; }

 private:
  void Put(uint64_t task, uint64_t token, Clock::Time now, LeaseTerms terms);

  const Clock::Duration ttl_;
  std::map<uint64_t, Lease> leases_;
  std::set<std::pair<Clock::Time, uint64_t>> deadlines_;
};

// Equal actions are run once at a time, whatever jobs they are of: the first task leads, and those
// that come while it is leased follow it, to share its result. Not thread-safe.
class InFlightActions {
 public:
  // The task leads its action, which is of that stage; or follows the one that does (false).
  bool Lead(const std::string& action, uint64_t task, StageId stage) {
    const auto [at, leads] = actions_.try_emplace(action, Action{stage, {}});
    if (leads) return true;
    at->second.followers.push_back(task);
    ++following_[static_cast<size_t>(stage)];
    return false;
  }

  // The leader's lease has ended, one way or the other. Returns who followed.
  std::vector<uint64_t> End(const std::string& action) {
    const auto at = actions_.find(action);
    if (at == actions_.end()) return {};
    std::vector<uint64_t> followers = std::move(at->second.followers);
    following_[static_cast<size_t>(at->second.stage)] -= static_cast<int64_t>(followers.size());
    actions_.erase(at);
    return followers;
  }

  // Tasks of the stage that follow one.
  int64_t Followers(StageId stage) const { return following_[static_cast<size_t>(stage)]; }

 private:
  struct Action {
    StageId stage;
    std::vector<uint64_t> followers;
  };

  std::map<std::string, Action> actions_;
  std::array<int64_t, kStageCount> following_{};
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_LEASE_TABLE_H_
