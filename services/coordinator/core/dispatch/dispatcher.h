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

// A worker's request for tasks; the fields as those of v1::LeaseRequest.
struct LeaseQuery {
  StageSet stages;
  int max_tasks = 1;
  int held = 0;
  WorkerId worker;
  WorkerFacts facts;
};

struct Leases {
  std::vector<v1::LeasedTask> tasks;  // maybe none
  bool finish_first = false;          // as v1::LeaseResponse has it
};

// Who runs what: which job and which of its tasks comes next, who holds a lease on what until when,
// how many tasks call on one host, and which tasks wait for an equal one.
//
//   which job       the highest priority; of these one with a task that must run alone; else the
//                   one with the fewest leases, and of equals the next in turn
//   which task      the one that was created first, of the stages that the worker has
//   which host      a few tasks at a time, and none while it asks to be left alone (HostLimits)
//   equal actions   once at a time, whatever jobs they are of; later ones follow the first, and
//                   share its result (InFlightActions). Those that use no cache are apart
//
// Not thread-safe: the scheduler's mutex guards it.
class Dispatcher {
 public:
  struct Options {
    Clock::Duration lease_ttl = std::chrono::seconds(30);
    // Tasks that call on one git host, or on the package index, at a time. 0: no limit.
    int host_limit = 4;
    // How long a stage is without a worker before that is said.
    Clock::Duration unserved_grace = std::chrono::seconds(5);
  };

  // All must outlive it. `ready` is notified when tasks have become ready.
  Dispatcher(const Options& options, JobTable& jobs, StateStore& store, const Clock& clock,
             Notifier& ready, AttemptLog& attempts)
      : jobs_(jobs),
        store_(store),
        clock_(clock),
        ready_(ready),
        attempts_(attempts),
        leases_(options.lease_ttl),
        hosts_(options.host_limit),
        unserved_(options.unserved_grace) {}

  // Takes up the leases that the running jobs have from before a restart: who holds one may go on;
  // the others run out.
  void RestoreLeases();

  // Takes note that the worker runs; says which of its runs have begun and ended.
  WorkerRegistry::Runs Hear(const LeaseQuery& query);
  // Leases ready tasks to the worker's run.
  Leases Lease(const LeaseQuery& query, uint64_t run, Change& change);
  // Likewise when it renews leases or hands in results.
  void HearAgain(const WorkerId& worker) { workers_.HearAgain(worker, clock_.Now()); }
  // Extends the caller's leases; returns those that it does not hold any more.
  std::vector<v1::LeaseRef> Renew(const std::vector<v1::LeaseRef>& leases,
                                  const std::string& caller);
  // Takes note of what the tasks wait for whose lease the caller holds; returns whether any is
  // news.
  bool SetWaiting(const std::vector<v1::LeaseRef>& leases, const std::string& caller,
                  const std::string& waits_for);
  bool Holds(const v1::LeaseRef& lease, const std::string& caller) const {
    return leases_.Holds(lease.task(), lease.token(), caller);
  }

  // Of a task that is leased; null: it is not.
  const LeaseTerms* TermsOf(uint64_t task) const { return leases_.TermsOf(task); }
  // Ends the task's lease and frees the place at its host. Returns the tasks that wait for its
  // result: they get it, or are to be requeued.
  std::vector<uint64_t> ReleaseLease(uint64_t task);
  // Ends the leases that have run out, or those of a worker's run. Who waited is requeued.
  std::vector<EndedLease> TakeExpired();
  std::vector<EndedLease> TakeLeasesOf(uint64_t run);
  // Ends the leases of a job that has ended. Who waited is requeued.
  void ReleaseLeasesOf(const Job& job);

  // Back to the ready tasks, if the task waits and its job still runs.
  void Requeue(uint64_t task);
  // Readies the tasks whose pause is over, or whose host has a place again.
  void ReadyDue();
  // The host that the task calls on is left alone until then.
  void PauseHost(const Job& job, uint32_t index, Clock::Time until);

  // No more leases from now on.
  void Drain() { draining_ = true; }
  bool draining() const { return draining_; }

  // Adds the leases, the hosts, and what the tasks that JobTable counted wait for.
  void AddTo(QueueStats& stats) const;

  // Looks, now and then, which stages have ready tasks and no worker. Returns whether what
  // unserved() says has changed.
  bool LookForWorkers();
  const UnservedStages& unserved() const { return unserved_; }
  // Ready tasks of the stages that unserved() has.
  StageCounts UnservedTasks() const;
  WorkerCensus Census() const;
  // The attempts that wait or run, of the job's tasks with these indices, `end` not included.
  std::vector<v1::TaskSpan> OpenSpans(const Job& job, uint32_t first, uint32_t end) const;
  // As Crawl.ListWorkers answers.
  std::vector<v1::WorkerInfo> Workers() const;

 private:
  struct Choice {
    Job* job = nullptr;  // null: nothing is ready
    bool alone = false;  // it has a task that must run alone, which goes first
  };
  Choice ChooseJob(const StageSet& stages) const;
  void LeaseShared(const LeaseQuery& query, uint64_t run, Leases& leases, Change& change);
  // Adds the task to `leases`. False: it has to wait for another task, or for its host, or needs no
  // worker.
  bool LeaseOne(const LeaseQuery& query, Job& job, uint32_t index, uint64_t run, Leases& leases,
                Change& change);
  // Pins the source from its pin history, if the job's policy says so. False: it is to be asked.
  bool PinFromHistory(Job& job, uint32_t index, Change& change);
  UnservedStages::Queue CountTasks() const;
  std::vector<uint64_t> Free(const LeaseTerms& terms);
  void FreeAndRequeue(const std::vector<EndedLease>& ended);

  JobTable& jobs_;
  StateStore& store_;
  const Clock& clock_;
  Notifier& ready_;
  AttemptLog& attempts_;
  LeaseTable leases_;
  InFlightActions in_flight_;
  HostLimits hosts_;
  WorkerRegistry workers_;
  UnservedStages unserved_;
  Clock::Time next_look_;     // of LookForWorkers()
  uint32_t last_served_ = 0;  // the job that the last task was leased from
  bool draining_ = false;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_DISPATCHER_H_
