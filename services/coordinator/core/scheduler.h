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
#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/base/notifier.h"
#include "common/cas/digest.h"
#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/work.pb.h"
#include "services/coordinator/core/clock.h"
#include "services/coordinator/core/commit_queue.h"
#include "services/coordinator/core/host_limits.h"
#include "services/coordinator/core/in_flight.h"
#include "services/coordinator/core/job.h"
#include "services/coordinator/core/lease_table.h"
#include "services/coordinator/core/state_store.h"
#include "services/coordinator/core/worker_registry.h"

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
    // How often a piece of a shard of files may end its worker before it is halved. A single file,
    // and what cannot be halved, has max_attempts.
    int crash_limit = 3;
    // Tasks that call on one git host, or on the package index, at a time. 0: no limit.
    int host_limit = 4;
    // Jobs that have not ended; a further one is refused.
    int max_unfinished_jobs = 1000;
    // Tasks of these jobs; a further job is refused while there are more.
    int64_t max_open_tasks = 4'000'000;
    // How long an ended job is kept. Zero: for ever.
    absl::Duration job_retention = absl::ZeroDuration();
    // Jobs that had not ended when the state was last closed end as ABANDONED, and completions are
    // not synced: for a coordinator that lives and dies with the one job that it runs.
    bool abandon_unfinished = false;
  };

  // Takes up the state kept. `store` and `clock` must outlive the scheduler.
  static absl::StatusOr<std::unique_ptr<Scheduler>> Open(const Options& options, StateStore& store,
                                                         const Clock& clock);

  // Accepts a job; returns its id. INVALID_ARGUMENT: the spec or the priority is wrong;
  // RESOURCE_EXHAUSTED: too much has not ended. A request id that was seen before returns the job
  // that it made; an empty one is always new.
  absl::StatusOr<std::string> Submit(const v1::JobSpec& spec, const std::string& request_id,
                                     int32_t priority = 0);
  // As the Crawl service has them.
  absl::StatusOr<v1::JobStatus> Cancel(const std::string& id);
  absl::StatusOr<v1::JobStatus> Retry(const std::string& id);
  absl::Status Delete(const std::string& id);
  // NOT_FOUND: no such job.
  absl::StatusOr<v1::JobStatus> GetJob(const std::string& id);
  // A number that grows with every change of the job; 0 once it has ended. NOT_FOUND: no such job.
  absl::StatusOr<uint64_t> JobVersion(const std::string& id);
  // The newest first, without failures, counters and locks.
  std::vector<v1::JobStatus> ListJobs();
  struct Brief {
    std::string job;
    v1::JobState state;
    cas::Digest dataset;  // of a DONE job whose end is kept
  };
  // All jobs, in few words.
  std::vector<Brief> ListBriefly() const;

  // Who asks for tasks; the fields as those of v1::LeaseRequest.
  struct Asker {
    StageSet stages;
    int max_tasks = 1;
    int held = 0;
    std::string worker;
    uint64_t incarnation = 0;
  };
  struct Leases {
    std::vector<v1::LeasedTask> tasks;  // maybe none
    bool finish_first = false;          // as v1::LeaseResponse has it
  };
  // Leases ready tasks: of the jobs with the highest priority, those with the fewest leases first.
  // UNAVAILABLE: draining.
  absl::StatusOr<Leases> Lease(const Asker& asker);
  // Extends leases; returns those that are lost.
  absl::StatusOr<std::vector<v1::LeaseRef>> Renew(const std::vector<v1::LeaseRef>& leases);
  // Takes results; one status each (see Work.Complete).
  absl::StatusOr<std::vector<absl::Status>> Complete(
      const std::vector<v1::Completion>& completions);

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
  absl::Status CheckRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Drops all that is known of an ended job; returns the ticket of the change.
  uint64_t Forget(uint32_t sequence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Leasing (scheduler_leases.cc).
  struct Choice {
    Job* job = nullptr;  // null: nothing is ready
    bool alone = false;  // it has a task that must run alone, which goes first
  };
  Choice ChooseJob(const StageSet& stages) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LeaseShared(const Asker& asker, uint64_t run, Clock::Time now, Leases& leases,
                   Change& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds the task to `leases`. False: it has to wait for another task, or for its host, or needs no
  // worker.
  bool LeaseOne(Job& job, uint32_t index, uint64_t run, Clock::Time now, Leases& leases,
                Change& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Pins the source from its last visit, if the job's policy says so. False: it is to be visited.
  bool PinFromVisit(Job& job, uint32_t index, Change& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Back to the ready ones, if its job still runs.
  void Requeue(uint64_t task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // What becomes of leased tasks (scheduler_outcomes.cc).
  absl::Status CompleteOne(const v1::Completion& completion, Clock::Time now, Change& change)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The status of a completion whose lease is not held (any more).
  absl::Status Repeated(const v1::LeaseRef& lease) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The task's result, and that of the tasks that followed it.
  void Succeeded(uint64_t task, const std::vector<uint64_t>& followers,
                 const v1::StageResult& result, bool cached, Change& change)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Gives back what the lease held; returns who followed the task.
  std::vector<uint64_t> LetGo(const LeaseTable::Terms& terms) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The worker handed in an error: plans another attempt, or fails the task. Ends with Settle().
  void AttemptFailed(Job& job, uint32_t index, uint64_t token, const absl::Status& error,
                     Clock::Time now, Change& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The worker ended with the task, or was not heard of: plans another attempt, takes the task
  // apart, or fails it. Ends with Settle().
  void AttemptCrashed(const LeaseTable::Ended& lease, const absl::Status& error, Clock::Time now,
                      Change& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Fails the task for good.
  void GiveUp(Job& job, uint32_t index, uint64_t token, const absl::Status& error, Change& change)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Clock::Time RetryAt(int attempts, Clock::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Expire(Clock::Time now, Change& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // If the job has ended: appends the change with its last status, and forgets it and its leases.
  // `job` must not be touched after.
  void Settle(Job& job, Change& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<uint32_t> SequenceOf(const std::string& id) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string IdOf(uint32_t sequence) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static LeaseTable::Terms TermsOf(const Job& job, uint32_t index, const v1::Action& action);
  Job* Running(uint64_t task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  StateStore& store_;
  const Clock& clock_;
  CommitQueue commits_;
  Notifier ready_;
  Notifier changed_;

  mutable absl::Mutex mutex_;
  LeaseTable leases_ ABSL_GUARDED_BY(mutex_);
  WorkerRegistry workers_ ABSL_GUARDED_BY(mutex_);
  InFlight in_flight_ ABSL_GUARDED_BY(mutex_);
  HostLimits hosts_ ABSL_GUARDED_BY(mutex_);
  absl::BitGen random_ ABSL_GUARDED_BY(mutex_);  // for the jitter of retries
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
