#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_OUTCOMES_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_OUTCOMES_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/random/random.h"
#include "absl/status/status.h"
#include "kernelmill/v1/work.pb.h"
#include "services/coordinator/core/dispatch/dispatcher.h"
#include "services/coordinator/core/jobs/job_table.h"
#include "services/coordinator/core/state/clock.h"
#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {

// What becomes of leased tasks.
//
//   a result            the task is done, and so are those that wait for an equal action
//   a result that is not what the stage promises
//                       refused; ready again after a pause, as after a retryable error: a worker
//                       that lies costs an attempt, not the source or the job
//   a handback          ready again at once; no attempt is counted
//   ABORTED of a stage that can be split
//                       as a worker that ended: what the task ran in was ended, and not the worker
//   a retryable error   ready again after a pause that doubles; failed after max_attempts
//   another error       failed
//   a worker that ended, or was silent until the lease ran out
//                       ready again, to run alone: should it end its worker again, it is known
//                       which task it was. Then a shard is halved, and a single file or kernel
//                       quarantined, after crash_limit; anything else has failed after max_attempts
//
// Ends the job with its last task. Not thread-safe: the scheduler's mutex guards it.
class Outcomes {
 public:
  struct Options {
    // Attempts at a task whose errors may be retried, and whose leases run out, before it has
    // failed.
    int max_attempts = 5;
    // The first pause before another attempt; it doubles with each, up to thirty times this.
    Clock::Duration retry_backoff = std::chrono::seconds(1);
    // How often a shard of files or kernels, or a part of one, may end its worker before it is
    // halved. A single one, and what cannot be halved, has max_attempts.
    int crash_limit = 3;
  };

  // All must outlive it.
  Outcomes(const Options& options, JobTable& jobs, Dispatcher& dispatcher, const Clock& clock,
           AttemptLog& attempts)
      : options_(options),
        jobs_(jobs),
        dispatcher_(dispatcher),
        clock_(clock),
        attempts_(attempts) {}

  // Takes what a worker hands in; answers as Work.Complete does. None: the lease is not held and
  // its job has ended; StatusOfRepeated says what to answer.
  std::optional<absl::Status> Complete(const v1::Completion& completion, const WorkerId& worker,
                                       Change& change);
  // The answer to a completion whose lease is not held: OK if it was taken before. `token` is that
  // of the task's row.
  static absl::Status StatusOfRepeated(const v1::LeaseRef& lease, TaskState state, uint64_t token);

  // Takes back the leases that have run out, and readies the tasks whose pause is over.
  void Expire(Change& change);
  // Takes back the leases of a worker's run, which has ended; 0: of none.
  void WorkerEnded(uint64_t run, Change& change);
  void Cancel(Job& job, Change& change);

 private:
  // The task's result, and that of the tasks that followed it. INVALID_ARGUMENT: it is none;
  // nothing has changed.
  absl::Status Succeeded(uint64_t task, const std::vector<uint64_t>& followers,
                         const v1::StageResult& result, bool cached, Change& change);
  // The worker handed in an error, or a result that is none: plans another attempt if `again`, or
  // fails the task, or begins the job again. `job` must not be touched after.
  void AttemptFailed(Job& job, uint32_t index, uint64_t token, const absl::Status& error,
                     bool again, Change& change);
  // Whether it says that the store has lost what the task reads; the job that made it then begins
  // again, and finds all that is not lost in the action cache.
  static bool IsLostInput(const Job& job, uint32_t index, const absl::Status& error);
  // `job` must not be touched after.
  void BeginAgain(Job& job, Change& change);
  // The worker ended with the task, or was not heard of.
  void AttemptCrashed(const EndedLease& lease, const absl::Status& error, Change& change);
  // What the task ran in, `alone` in its worker or not, ended: plans another attempt, splits the
  // shard, or fails the task. `token` is that of who says so; 0: nobody does. `job` must not be
  // touched after.
  void Crashed(Job& job, uint32_t index, uint64_t token, bool alone, const absl::Status& error,
               Change& change);
  // Splits the shard, or fails the task for good.
  void SplitOrFail(Job& job, uint32_t index, uint64_t token, const absl::Status& error,
                   Change& change);
  // Fails the task for good.
  void Fail(Job& job, uint32_t index, uint64_t token, const absl::Status& error, Change& change);
  // Ends the job and its leases if that was its last task. `job` must not be touched after.
  void EndIfOver(Job& job, Change& change);
  Clock::Time RetryAt(int attempts);

  const Options options_;
  JobTable& jobs_;
  Dispatcher& dispatcher_;
  const Clock& clock_;
  AttemptLog& attempts_;
  absl::BitGen random_;  // for the jitter of retries
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_OUTCOMES_H_
