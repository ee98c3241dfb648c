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
#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {

// The facts about a lease, besides its token.
struct LeaseTerms {
  uint64_t worker = 0;         // the worker's run (WorkerRegistry)
  bool alone = false;          // the worker runs no other task meanwhile
  std::string action;          // the action that the task leads (InFlightActions); empty: none
  std::string host;            // the host at which it has a place; empty: none
  std::string caller;          // the caller that holds it; empty: anyone with the token
  std::string name;            // the worker's name; empty: unknown, e.g. after a restart
  int64_t leased_unix_ms = 0;  // when it was leased, or restored after a restart

  WorkerId holder() const { return {caller, name}; }
};

struct EndedLease {
  uint64_t task = 0;
  LeaseTerms terms;
};

// Returns an unguessable token, never 0, from the kernel's random numbers.
uint64_t RandomToken();

// The leases: which worker may complete which task, until when. Not thread-safe.
//
// The basic idea of fencing: every lease has its own random token. A completion must have the token
// of the task's current lease. So a worker whose lease expired, or that never had one, cannot
// complete a task that was leased again.
class LeaseTable {
 public:
  struct Lease {
    uint64_t token;
    Clock::Time deadline;
    LeaseTerms terms;
  };

  explicit LeaseTable(Clock::Duration ttl) : ttl_(ttl) {}

  // Leases the task for the full time to live, and returns the token.
  uint64_t Grant(uint64_t task, Clock::Time now, LeaseTerms terms = {});
  // Restores a lease that an earlier process granted, for the full time to live.
  void Restore(uint64_t task, uint64_t token, Clock::Time now, LeaseTerms terms = {});
  // Extends a lease. Returns false if the caller does not hold it.
  bool Renew(uint64_t task, uint64_t token, const std::string& caller, Clock::Time now);
  // Finds the terms of a lease; null if the task is not leased.
  const LeaseTerms* FindTerms(uint64_t task) const {
    const auto at = leases_.find(task);
    return at == leases_.end() ? nullptr : &at->second.terms;
  }
  // Returns whether the token is the current lease's, and the caller its holder.
  bool Holds(uint64_t task, uint64_t token, const std::string& caller) const;
  // Ends a lease and returns its terms; default terms if the task is not leased.
  LeaseTerms Release(uint64_t task);
  // Removes and returns the expired leases, the earliest deadline first.
  std::vector<EndedLease> TakeExpired(Clock::Time now);
  // Removes and returns the leases of a worker's run.
  std::vector<EndedLease> TakeByWorker(uint64_t worker);

  size_t size() const { return leases_.size(); }
  Clock::Duration ttl() const { return ttl_; }
  // The leases by task.
  const std::map<uint64_t, Lease>& leases() const { return leases_; }

 private:
  void Put(uint64_t task, uint64_t token, Clock::Time now, LeaseTerms terms);

  const Clock::Duration ttl_;
  std::map<uint64_t, Lease> leases_;
  std::set<std::pair<Clock::Time, uint64_t>> deadlines_;
};

// The actions that are running. Equal actions run once at a time, across all jobs: the first task
// leads, and tasks that come while it is leased follow it and share its result. Not thread-safe.
class InFlightActions {
 public:
  // Makes the task lead its action and returns true; or makes it follow the leader and returns
  // false.
  bool Lead(const std::string& action, uint64_t task, StageId stage) {
    const auto [at, leads] = actions_.try_emplace(action, Action{stage, {}});
    if (leads) return true;
    at->second.followers.push_back(task);
    ++following_[static_cast<size_t>(stage)];
    return false;
  }

  // Ends the action, after its leader's lease has ended in any way. Returns the followers.
  std::vector<uint64_t> End(const std::string& action) {
    const auto at = actions_.find(action);
    if (at == actions_.end()) return {};
    std::vector<uint64_t> followers = std::move(at->second.followers);
    following_[static_cast<size_t>(at->second.stage)] -= static_cast<int64_t>(followers.size());
    actions_.erase(at);
    return followers;
  }

  // Forgets the followers of a job: the next run has other tasks under their ids.
  void Drop(uint32_t job) {
    for (auto& [name, action] : actions_) {
      following_[static_cast<size_t>(action.stage)] -= static_cast<int64_t>(
          std::erase_if(action.followers, [job](uint64_t task) { return TaskJob(task) == job; }));
    }
  }

  // Returns the number of followers in the stage.
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
