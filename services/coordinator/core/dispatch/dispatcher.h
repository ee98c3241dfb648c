#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_DISPATCHER_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_DISPATCHER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/notifier.h"
#include "kernelmill/v1/work.pb.h"
#include "services/coordinator/core/dispatch/attempt_log.h"
#include "services/coordinator/core/dispatch/host_limits.h"
#include "services/coordinator/core/dispatch/lease_table.h"
#include "services/coordinator/core/dispatch/unserved_stages.h"
#include "services/coordinator/core/dispatch/worker_registry.h"
#include "services/coordinator/core/jobs/job_table.h"
#include "services/coordinator/core/state/clock.h"
#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {

// A worker's request for tasks; the fields are those of v1::LeaseRequest.
struct LeaseQuery {
  StageSet stages;
  int max_tasks = 1;
  int held = 0;
  WorkerId worker;
  WorkerFacts facts;
};

struct Leases {
  std::vector<v1::LeasedTask> tasks;  // may be empty
  bool finish_first = false;          // see v1::LeaseResponse
};

// The dispatcher decides which task a worker gets next, and keeps the leases. Not thread-safe: the
// scheduler's mutex guards it.
//
// clang-format off
//   job            the highest priority; among equals one with a task that must run alone; else the
//                  job with the fewest leases, and among equals the next in turn
//   task           the earliest created task of the stages that the worker has
//   host           a few tasks at a time, and none while the host requests a pause (HostLimits)
//   equal actions  run once at a time, across all jobs; later ones wait for the first one and share
//                  its result (InFlightActions). Actions without caching only share with each other
// clang-format on
class Dispatcher {
 public:
  struct Options {
    Clock::Duration lease_ttl = std::chrono::seconds(30);
    // The number of tasks that use one git host, or the package index, at a time. 0: no limit.
    int host_limit = 4;
    // The number of tasks of one owner's jobs that are leased at a time. 0: no limit.
    int64_t leased_per_owner = 0;
    // True: one host leaves slots for the tasks of others (HostLimits::SetSlots). A cluster of
    // one user, who waits for all of them, needs no share.
    bool share_slots = true;
    // How long a stage must be without a worker before it is reported.
    Clock::Duration unserved_grace = std::chrono::seconds(5);
  };

  // The objects that it works with; all must outlive it.
  struct Collaborators {
    JobTable& jobs;
    StateStore& store;
    const Clock& clock;
    Notifier& ready;  // notified when tasks become ready
    AttemptLog& attempts;
  };

  Dispatcher(const Options& options, const Collaborators& collaborators)
      : jobs_(collaborators.jobs),
        store_(collaborators.store),
        clock_(collaborators.clock),
        ready_(collaborators.ready),
        attempts_(collaborators.attempts),
        leased_per_owner_(options.leased_per_owner),
        leases_(options.lease_ttl),
        hosts_(options.host_limit),
        share_slots_(options.share_slots),
        unserved_(options.unserved_grace) {}

  // Restores the leases of running jobs after a restart. Workers that still hold one can continue;
  // the other leases expire.
  void RestoreLeases();

  // Notes that a worker asks for tasks. Returns which of its runs began and ended.
  WorkerRegistry::Runs Hear(const LeaseQuery& query);
  // Leases ready tasks to the worker's run.
  Leases Lease(const LeaseQuery& query, uint64_t run, Change& change);
  // Notes that a worker renews leases or sends results.
  void HearAgain(const WorkerId& worker) { workers_.HearAgain(worker, clock_.Now()); }
  // Extends the caller's leases. Returns those that it no longer holds.
  std::vector<v1::LeaseRef> Renew(const std::vector<v1::LeaseRef>& leases,
                                  const std::string& caller);
  // Notes what the tasks wait for whose leases the caller holds. Returns whether anything changed.
  bool SetWaiting(const std::vector<v1::LeaseRef>& leases, const std::string& caller,
                  const std::string& waits_for);
  bool Holds(const v1::LeaseRef& lease, const std::string& caller) const {
    return leases_.Holds(lease.task(), lease.token(), caller);
  }

  // Finds the terms of a leased task; null if it is not leased.
  const LeaseTerms* FindTerms(uint64_t task) const { return leases_.FindTerms(task); }
  // Ends the task's lease and frees its place at the host. Returns the tasks that wait for its
  // result; the caller gives it to them or requeues them.
  std::vector<uint64_t> ReleaseLease(uint64_t task);
  // End and return the expired leases, or those of a worker's run. Requeues the tasks that waited
  // for their results.
  std::vector<EndedLease> TakeExpired();
  std::vector<EndedLease> TakeWorkerLeases(uint64_t run);
  // Ends the leases of a job whose run is over, and requeues the tasks of others that waited for
  // their results. Its own waiting tasks are forgotten.
  void ReleaseJobLeases(const Job& job);

  // Makes the task ready again, if it waits and its job still runs.
  void Requeue(uint64_t task);
  // Makes the tasks ready whose pause is over, or whose host has a free place.
  void ReadyDue();
  // Gives the task's host no new tasks until `until`.
  void PauseHost(const Job& job, uint32_t index, Clock::Time until);

  // Grants no more leases.
  void Drain() { draining_ = true; }
  bool draining() const { return draining_; }

  // Adds the counts of leases and hosts, and why the tasks that JobTable counted wait.
  void AddTo(QueueStats& stats) const;

  // Checks, at most every kLookPause, which stages have ready tasks but no worker. Returns whether
  // unserved() changed.
  bool LookForWorkers();
  const UnservedStages& unserved() const { return unserved_; }
  // Returns the number of ready tasks of each unserved stage.
  StageCounts UnservedTasks() const;
  WorkerCensus Census() const;
  // Returns the spans of the job's waiting and running attempts, of the tasks from `first` to
  // before `end`.
  std::vector<v1::TaskSpan> OpenSpans(const Job& job, uint32_t first, uint32_t end) const;
  // Returns the answer of Crawl.ListWorkers.
  std::vector<v1::WorkerInfo> Workers() const;

 private:
  struct Choice {
    Job* job = nullptr;  // null: nothing is ready
    bool alone = false;  // it has a task that must run alone, which comes first
  };
  // A call of Lease(), which is being answered.
  struct Request {
    const LeaseQuery& query;
    uint64_t run;
    Leases& leases;
    Change& change;
  };
  Choice ChooseJob(const StageSet& stages) const;
  void LeaseShared(const Request& request);
  // Leases the task and adds it to the leases. Returns false if it must wait for an equal task or
  // its host, or needs no worker.
  bool LeaseOne(const Request& request, Job& job, uint32_t index);
  // Pins the source from its pin history, if the job's visits policy allows it. Returns false if a
  // worker must ask the host.
  bool PinFromHistory(Job& job, uint32_t index, Change& change);
  // Tells HostLimits how many slots the connected workers have for tasks that use hosts.
  void CountSlots();
  UnservedStages::Queue CountTasks() const;
  std::vector<uint64_t> Free(const LeaseTerms& terms);
  void FreeAndRequeue(const std::vector<EndedLease>& ended);

  JobTable& jobs_;
  StateStore& store_;
  const Clock& clock_;
  Notifier& ready_;
  AttemptLog& attempts_;
  const int64_t leased_per_owner_;
  LeaseTable leases_;
  InFlightActions in_flight_;
  HostLimits hosts_;
  const bool share_slots_;
  WorkerRegistry workers_;
  UnservedStages unserved_;
  Clock::Time next_look_;     // the next check of LookForWorkers()
  uint32_t last_served_ = 0;  // the job of the last leased task
  bool draining_ = false;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_DISPATCHER_H_
