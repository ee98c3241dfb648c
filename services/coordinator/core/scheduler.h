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

// The logic of the Crawl and Work services, without gRPC: takes the lock, lets JobTable, Dispatcher
// and Outcomes (which it owns) decide, and stores their changes before it answers. Thread-safe.
//
// Locks: mutex_ guards the state of these three and is held during every call to them. The store is
// read, and changes are queued, under mutex_; no thread waits for a write while it holds mutex_.
// The commit queue and the notifiers have their own locks and call nothing under them.
//
// Durability: a change is stored before the call that made it answers. If the store fails, every
// later call fails with that error (status()); memory is then ahead of the disk, and the process
// must restart.
class Scheduler {
 public:
  struct Options {
    JobTable::Options jobs;
    Dispatcher::Options dispatch;
    Outcomes::Options outcomes;
    // Makes completions survive a loss of power. Off for an embedded coordinator, which lives only
    // as long as its job.
    bool sync_completions = true;
    Observer observer;
  };

  // Loads the stored state. `store` and `clock` must outlive the scheduler.
  static absl::StatusOr<std::unique_ptr<Scheduler>> Open(const Options& options, StateStore& store,
                                                         const Clock& clock);

  // Starts a job for the caller (a key of access::CallerLimits) and returns its id. If the request
  // id is known, returns the job that it made; an empty request id is always new. `no_cache`: see
  // the Crawl service. INVALID_ARGUMENT: the spec or the priority is invalid. RESOURCE_EXHAUSTED:
  // too many unfinished jobs.
  absl::StatusOr<std::string> Submit(v1::JobSpec spec, const std::string& request_id,
                                     int32_t priority = 0, const std::string& caller = "",
                                     bool no_cache = false);
  // See the Crawl service.
  absl::StatusOr<v1::JobStatus> Cancel(const std::string& id);
  absl::StatusOr<v1::JobStatus> Retry(const std::string& id, const std::string& caller = "",
                                      bool no_cache = false);
  absl::Status Delete(const std::string& id);
  // Returns the job's status, with the first failures only. NOT_FOUND: no such job.
  absl::StatusOr<v1::JobStatus> GetJob(const std::string& id);
  // See the Crawl service.
  absl::StatusOr<v1::ListFailuresResponse> ListFailures(const v1::ListFailuresRequest& request);
  // Passes the lock in parts, as the Crawl service streams them, until `write` returns false.
  absl::Status ReadLock(const std::string& id, absl::FunctionRef<bool(const v1::JobSpec&)> write);
  // Returns the caller that submitted the job. NOT_FOUND: no such job.
  absl::StatusOr<std::string> GetOwner(const std::string& id) const;
  // Returns a number that increases with every change of the job; 0 if it has ended. NOT_FOUND: no
  // such job.
  absl::StatusOr<uint64_t> JobVersion(const std::string& id);
  // Returns all jobs, the newest first, without failures and counters; their troubled tasks are
  // only the waiting ones.
  std::vector<v1::JobStatus> ListJobs();
  std::vector<JobSummary> JobSummaries() const;

  // Leases ready tasks. UNAVAILABLE: the coordinator is draining.
  absl::StatusOr<Leases> Lease(const LeaseQuery& query);
  // Extends leases and returns the lost ones. `waits_for`: what the tasks wait for; empty: nothing.
  absl::StatusOr<std::vector<v1::LeaseRef>> Renew(const std::vector<v1::LeaseRef>& leases,
                                                  const WorkerId& worker = {},
                                                  const std::string& waits_for = "");
  // Takes completions and returns a status for each (see Work.Complete).
  absl::StatusOr<std::vector<absl::Status>> Complete(const std::vector<v1::Completion>& completions,
                                                     const WorkerId& worker = {});

  // Takes back expired leases, and makes the tasks ready whose pause is over. Call it often.
  void Tick();
  // Deletes the ended jobs whose retention has expired at `now`, by the wall clock. Call it
  // regularly.
  absl::Status DeleteOldJobs(absl::Time now);
  // Stops granting leases; everything else continues.
  void Drain();
  bool draining() const;

  // OK, or the error with which the store failed.
  absl::Status status() const { return commits_.status(); }

  // Notified when tasks become ready, or any job changes; and by Drain().
  const Notifier& ready() const { return ready_; }
  const Notifier& changed() const { return changed_; }

  // See Crawl.ListWorkers.
  std::vector<v1::WorkerInfo> ListWorkers() const;

  struct TimelinePage {
    std::vector<v1::TaskSpan> spans;  // by task and attempt
    uint32_t next = 0;  // the index of the first task of the next page; 0: no more pages
  };
  // Returns a page of the job's timeline, from the task with index `first` (the first is 1) on.
  // Attempts that are just ending may be missing. NOT_FOUND: no such job.
  absl::StatusOr<TimelinePage> Timeline(const std::string& id, uint32_t first);

  // For metrics.
  QueueStats Stats() const;
  struct WorkerStats {
    WorkerCensus workers;
    StageCounts unserved{};  // ready tasks of unserved stages
  };
  WorkerStats CountWorkers() const;

 private:
  Scheduler(const Options& options, StateStore& store, const Clock& clock);

  absl::Status Load();
  Change NewChange() const;
  // Waits until the job's end is stored, and returns its sequence number. FAILED_PRECONDITION: it
  // is running.
  absl::StatusOr<uint32_t> WaitForEnd(const std::string& id);
  // Passes the spec of an ended job, with its pins if it has any.
  absl::Status ReadJobLock(uint32_t sequence, absl::FunctionRef<bool(const v1::JobSpec&)> visit);
  // Queues the change and returns its ticket; for an empty change the last ticket.
  uint64_t Append(Change change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the answer to a completion for a job that has ended.
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
