#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_SCHEDULER_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_SCHEDULER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/base/notifier.h"
#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/work.pb.h"
#include "services/coordinator/core/dispatch/dispatcher.h"
#include "services/coordinator/core/dispatch/outcomes.h"
#include "services/coordinator/core/jobs/job_table.h"
#include "services/coordinator/core/state/clock.h"
#include "services/coordinator/core/state/commit_queue.h"
#include "services/coordinator/core/state/observation.h"
#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {

// What the Crawl and Work services do, without gRPC: takes the lock, lets JobTable, Dispatcher and
// Outcomes decide, and stores what they changed before it answers. Thread-safe.
//
// Locks: mutex_ is held whenever one of the three is called, and guards all of their state. Under
// it the store is read, and changes are queued; nobody waits for a write with it held. The commit
// queue and the notifiers have locks of their own, under which nothing else is called.
//
// Durability: what a call answers is kept before it answers. When the store fails, every later call
// fails with that error (status()); memory is then ahead of the disk, and the process must be
// started again.
class Scheduler {
 public:
  struct Options {
    JobTable::Options jobs;
    Dispatcher::Options dispatch;
    Outcomes::Options outcomes;
    // Completions survive a loss of power. Off for a coordinator that lives and dies with the one
    // job that it runs.
    bool sync_completions = true;
    Observer observer;
  };

  // Takes up the state kept. `store` and `clock` must outlive the scheduler.
  static absl::StatusOr<std::unique_ptr<Scheduler>> Open(const Options& options, StateStore& store,
                                                         const Clock& clock);

  // Accepts a job of the caller, as access::CallerLimits knows it; returns its id.
  // INVALID_ARGUMENT: the spec or the priority is wrong; RESOURCE_EXHAUSTED: too much has not
  // ended. A request id that was seen before returns the job that it made; an empty one is always
  // new. `no_cache`, as the Crawl service has it.
  absl::StatusOr<std::string> Submit(v1::JobSpec spec, const std::string& request_id,
                                     int32_t priority = 0, const std::string& caller = "",
                                     bool no_cache = false);
  // As the Crawl service has them.
  absl::StatusOr<v1::JobStatus> Cancel(const std::string& id);
  absl::StatusOr<v1::JobStatus> Retry(const std::string& id, const std::string& caller = "",
                                      bool no_cache = false);
  absl::Status Delete(const std::string& id);
  // With the first failures alone. NOT_FOUND: no such job.
  absl::StatusOr<v1::JobStatus> GetJob(const std::string& id);
  // As the Crawl service has it.
  absl::StatusOr<v1::ListFailuresResponse> ListFailures(const v1::ListFailuresRequest& request);
  // Passes the lock in parts, as the Crawl service streams it, until `write` returns false.
  absl::Status ReadLock(const std::string& id, absl::FunctionRef<bool(const v1::JobSpec&)> write);
  // A number that grows with every change of the job; 0 once it has ended. NOT_FOUND: no such job.
  absl::StatusOr<uint64_t> JobVersion(const std::string& id);
  // The newest first, without failures and counters; of troubled tasks those that wait.
  std::vector<v1::JobStatus> ListJobs();
  std::vector<JobSummary> JobSummaries() const;

  // Leases ready tasks. UNAVAILABLE: draining.
  absl::StatusOr<Leases> Lease(const LeaseQuery& query);
  // Extends leases; returns those that are lost. `waits_for`: what keeps the tasks from going on;
  // empty: nothing does.
  absl::StatusOr<std::vector<v1::LeaseRef>> Renew(const std::vector<v1::LeaseRef>& leases,
                                                  const WorkerId& worker = {},
                                                  const std::string& waits_for = "");
  // Takes results; one status each (see Work.Complete).
  absl::StatusOr<std::vector<absl::Status>> Complete(const std::vector<v1::Completion>& completions,
                                                     const WorkerId& worker = {});

  // Takes back the leases that have run out and readies the tasks whose pause is over. Call it
  // often.
  void Tick();
  // Deletes the ended jobs whose retention is over at `now`, by the wall clock. Call it now and
  // then.
  absl::Status DeleteOldJobs(absl::Time now);
  // No more leases from now on; all else goes on.
  void Drain();
  bool draining() const;

  // OK, or why the state cannot be kept any more.
  absl::Status status() const { return commits_.status(); }

  // Notified when tasks have become ready, when any job has changed, and by Drain().
  const Notifier& ready() const { return ready_; }
  const Notifier& changed() const { return changed_; }

  // As Crawl.ListWorkers answers.
  std::vector<v1::WorkerInfo> ListWorkers() const;

  struct TimelinePage {
    std::vector<v1::TaskSpan> spans;  // by task and attempt
    uint32_t next = 0;  // the index of the task that the next page begins with; 0: none
  };
  // What is known of when the job's tasks waited and ran, from the task with that index (from 1)
  // on, some tasks at a time. Attempts that are just ending may be missing. NOT_FOUND: no such job.
  absl::StatusOr<TimelinePage> Timeline(const std::string& id, uint32_t first);

  // For metrics.
  QueueStats Stats() const;
  struct WorkerStats {
    WorkerCensus workers;
    StageCounts unserved{};  // ready tasks of stages without a worker
  };
  WorkerStats CountWorkers() const;

 private:
  Scheduler(const Options& options, StateStore& store, const Clock& clock);

  absl::Status Load();
  Change NewChange() const;
  // Returns once the job's end is kept; its sequence number. FAILED_PRECONDITION: it is running.
  absl::StatusOr<uint32_t> WaitForEnd(const std::string& id);
  // The spec of an ended job with its pins, as far as it has any.
  absl::Status ReadLockOf(uint32_t sequence, absl::FunctionRef<bool(const v1::JobSpec&)> visit);
  // Queues the change to be stored; returns its ticket, or of an empty one that of the last.
  uint64_t Append(Change change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The answer to a completion of a job that has ended.
  absl::Status StatusOfStored(const v1::LeaseRef& lease);

  const bool sync_completions_;
  const Observer observer_;
  StateStore& store_;
  const Clock& clock_;
  CommitQueue commits_;
  Notifier ready_;
  Notifier changed_;

  mutable absl::Mutex mutex_;
  AttemptLog attempts_ ABSL_GUARDED_BY(mutex_);
  JobTable jobs_ ABSL_GUARDED_BY(mutex_);
  Dispatcher dispatcher_ ABSL_GUARDED_BY(mutex_);  // uses jobs_
  Outcomes outcomes_ ABSL_GUARDED_BY(mutex_);      // uses jobs_ and dispatcher_
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_SCHEDULER_H_
