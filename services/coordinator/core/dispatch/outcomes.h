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

// The outcomes of leased tasks: decides whether a task is done, retried, split or failed, and ends
// the job with its last task. Not thread-safe: the scheduler's mutex guards it.
//
// clang-format off
//   a result            the task is done, and so are the tasks that wait for an equal action
//   an invalid result   refused; ready again after a pause, as after a retryable error: a worker that
//                       lies costs an attempt, not the source or the job
//   a handback          ready again at once; the attempt does not count
//   ABORTED, in a splittable stage
//                       as a crash: a child process of the worker crashed instead of the worker
//   a retryable error   ready again after a pause that doubles each time; failed after max_attempts
//   any other error     failed
//   a crash: the worker ended, or was silent until the lease expired
//                       ready again, to run alone, so that the next crash tells which task it was.
//                       After crash_limit crashes a shard is halved, and a single file or kernel is
//                       quarantined; any other task fails after max_attempts
// clang-format on
class Outcomes {
 public:
  struct Options {
    // The number of attempts with retryable errors, or crashes, after which a task fails.
    int max_attempts = 5;
    // The pause before the second attempt. It doubles with each attempt, up to thirty times this.
    Clock::Duration retry_backoff = std::chrono::seconds(1);
    // How often a shard, or a part of one, may crash its worker before it is halved. A single item,
    // and a task that cannot be halved, has max_attempts.
    int crash_limit = 3;
  };

  // All arguments must outlive it.
  Outcomes(const Options& options, JobTable& jobs, Dispatcher& dispatcher, const Clock& clock,
           AttemptLog& attempts)
      : options_(options),
        jobs_(jobs),
        dispatcher_(dispatcher),
        clock_(clock),
        attempts_(attempts) {}

  // Takes a completion and returns the answer of Work.Complete. Returns nothing if the lease is not
  // held and its job has ended; StatusOfRepeated then makes the answer.
  std::optional<absl::Status> Complete(const v1::Completion& completion, const WorkerId& worker,
                                       Change& change);
  // Returns the answer to a completion whose lease is not held: OK if the completion was taken
  // before. `token` is the token in the task's row.
  static absl::Status StatusOfRepeated(const v1::LeaseRef& lease, TaskState state, uint64_t token);

  // Takes back expired leases, and makes the tasks ready whose pause is over.
  void Expire(Change& change);
  // Takes back the leases of a worker's run that has ended; 0: no run.
  void WorkerEnded(uint64_t run, Change& change);
  void Cancel(Job& job, Change& change);

 private:
  // Takes the result for the task and its followers. INVALID_ARGUMENT: the result is invalid;
  // nothing has changed.
  absl::Status Succeeded(uint64_t task, const std::vector<uint64_t>& followers,
                         const v1::StageResult& result, bool cached, Change& change);
  // A leased task whose attempt ended without a result.
  struct FailedAttempt {
    Job& job;
    uint32_t index;
    uint64_t token;  // of the completion, or 0
    absl::Status error;
  };
  // Handles an error or an invalid result: retries the task if `again`, fails it, or restarts the
  // job. The job may be destroyed.
  void AttemptFailed(const FailedAttempt& attempt, bool again, Change& change);
  // Returns whether the error means that the store lost an input of the task. The job is then
  // restarted, and finds everything that is not lost in the action cache.
  static bool IsLostInput(const Job& job, uint32_t index, const absl::Status& error);
  // Restarts the job. `job` is destroyed.
  void BeginAgain(Job& job, Change& change);
  // Handles a lease whose worker ended or was silent.
  void AttemptCrashed(const EndedLease& lease, const absl::Status& error, Change& change);
  // Handles a crash of the task, which ran `alone` in its worker or not: retries the task, splits
  // the shard, or fails the task. The job may be destroyed.
  void Crashed(const FailedAttempt& attempt, bool alone, Change& change);
  // Splits the shard, or fails the task.
  void SplitOrFail(const FailedAttempt& attempt, Change& change);
  static FailedAttempt GiveUp(FailedAttempt attempt, int attempts);
  // Fails the task.
  void Fail(const FailedAttempt& attempt, Change& change);
  // Ends the job and its leases if its last task has ended. `job` may be destroyed.
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
