#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_SCHEDULER_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_SCHEDULER_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "common/base/notifier.h"
#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/work.pb.h"
#include "services/coordinator/core/clock.h"
#include "services/coordinator/core/commit_queue.h"
#include "services/coordinator/core/job.h"
#include "services/coordinator/core/lease_table.h"
#include "services/coordinator/core/state_store.h"

namespace kernelmill::coordinator {

// All jobs, their leases and their durable state: what the Crawl and Work services do, without
// gRPC. Thread-safe. Nothing here waits but for the state store.
//
// Durability: what a call answers is kept before it answers. When the store fails, every later call
// fails with that error (status()); memory is then ahead of the disk, and the process must be
// started again.
class Scheduler {
 public:
  struct Options {
    Clock::Duration lease_ttl = std::chrono::seconds(30);
    // Attempts at a task whose errors may be retried, and whose leases run out, before it has
    // failed.
    int max_attempts = 5;
    // The first pause before another attempt; it doubles with each, up to thirty times this.
    Clock::Duration retry_backoff = std::chrono::seconds(1);
    // Jobs that had not ended when the state was last closed end as ABANDONED, and completions are
    // not synced: for a coordinator that lives and dies with the one job that it runs.
    bool abandon_unfinished = false;
  };

  // Takes up the state kept. `store` and `clock` must outlive the scheduler.
  static absl::StatusOr<std::unique_ptr<Scheduler>> Open(const Options& options, StateStore& store,
                                                         const Clock& clock);

  // Accepts a job; returns its id. INVALID_ARGUMENT: the spec is wrong. A request id that was seen
  // before returns the job that it made; an empty one is always new.
  absl::StatusOr<std::string> Submit(const v1::JobSpec& spec, const std::string& request_id);
  // NOT_FOUND: no such job.
  absl::StatusOr<v1::JobStatus> GetJob(const std::string& id);
  // A number that grows with every change of the job; 0 once it has ended. NOT_FOUND: no such job.
  absl::StatusOr<uint64_t> JobVersion(const std::string& id);
  // The newest first, without failures, counters and locks.
  std::vector<v1::JobStatus> ListJobs();

  // Leases up to `max_tasks` ready tasks of the stages, one job after the other; maybe none.
  // UNAVAILABLE: draining.
  absl::StatusOr<std::vector<v1::LeasedTask>> Lease(const StageSet& stages, int max_tasks);
  // Extends leases; returns those that are lost.
  absl::StatusOr<std::vector<v1::LeaseRef>> Renew(const std::vector<v1::LeaseRef>& leases);
  // Takes results; one status each (see Work.Complete).
  absl::StatusOr<std::vector<absl::Status>> Complete(
      const std::vector<v1::Completion>& completions);

  // Takes back the leases that have run out and readies the tasks whose pause is over. Call it
  // often.
  void Tick();
  // No more leases from now on; all else goes on.
  void Drain();
  bool draining() const;

  // OK, or why the state cannot be kept any more.
  absl::Status status() const { return commits_.status(); }

  // Notified when tasks have become ready, when any job has changed, and by Drain().
  const Notifier& ready() const { return ready_; }
  const Notifier& changed() const { return changed_; }

  // For metrics.
  struct Tally {
    std::map<v1::JobState, int64_t> jobs;
    std::map<std::string, v1::StageProgress> tasks;  // of the running jobs, by stage
    int64_t leases = 0;
  };
  Tally Count() const;

 private:
  struct Ended {
    v1::JobStatus summary;
    uint64_t ticket;  // of the change that ended it
  };

  Scheduler(const Options& options, StateStore& store, const Clock& clock, uint64_t epoch);

  absl::Status Load();
  // Takes up one job that had not ended.
  absl::Status Resume(JobRow row, Change& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Abandon(const JobRow& row, Change& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  uint64_t Append(Change change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LeaseOne(Job& job, uint32_t index, Clock::Time now, v1::LeasedTask& task, Change& change)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CompleteOne(const v1::Completion& completion, Clock::Time now, Change& change)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The status of a completion whose lease is not held (any more).
  absl::Status Repeated(const v1::LeaseRef& lease) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Plans another attempt, or fails the task. `token` is that of the completion taken; 0 if the
  // lease ran out. Ends with Settle().
  void AttemptEnded(Job& job, uint32_t index, uint64_t token, const absl::Status& error,
                    Clock::Time retry_at, Change& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Expire(Clock::Time now, Change& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // If the job has ended: appends the change with its last status, and forgets it and its leases.
  // `job` must not be touched after.
  void Settle(Job& job, Change& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<uint32_t> SequenceOf(const std::string& id) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string IdOf(uint32_t sequence) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Job* Running(uint64_t task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  StateStore& store_;
  const Clock& clock_;
  CommitQueue commits_;
  Notifier ready_;
  Notifier changed_;

  mutable absl::Mutex mutex_;
  LeaseTable leases_ ABSL_GUARDED_BY(mutex_);
  std::map<uint32_t, std::unique_ptr<Job>> running_ ABSL_GUARDED_BY(mutex_);
  std::map<uint32_t, Ended> ended_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, uint32_t> requests_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, uint32_t> ids_ ABSL_GUARDED_BY(mutex_);
  uint32_t last_sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t last_served_ ABSL_GUARDED_BY(mutex_) = 0;  // the job that the last task was leased from
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_SCHEDULER_H_
