#include "services/coordinator/core/dispatch/outcomes.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "services/coordinator/core/dispatch/pin_history.h"

namespace kernelmill::coordinator {
namespace {

constexpr int kMaxBackoffFactor = 30;
// How often a job runs at most, with automatic restarts. A store that keeps losing blobs needs an
// operator.
constexpr int32_t kMaxRuns = 10;
constexpr int64_t kMaxPauseMs = int64_t{24} * 60 * 60 * 1000;  // bounds the pause of a host

// Converts a worker's error; an error with the code OK becomes INTERNAL.
absl::Status ToError(const google::rpc::Status& error) {
  const auto code = static_cast<absl::StatusCode>(error.code());
  if (code == absl::StatusCode::kOk) return absl::InternalError("the error has no code");
  return absl::Status(code, error.message());
}

// Returns the end of the attempt that the completion reports.
AttemptEnd MakeEnd(const v1::Completion& completion) {
  AttemptEnd end;
  end.timing = completion.timing();
  if (completion.has_handback()) {
    end.outcome = "handed_back";
  } else if (completion.has_error()) {
    end.outcome = "failed";
    end.error = ToError(completion.error());
  } else if (completion.cached()) {
    end.outcome = "cached";
  }
  return end;
}

}  // namespace

// Decides what a worker's report leads to:
//
//   result                    done; its followers are done too
//   result that does not fit  as an error that is tried again
//   handback                  ready at once, without counting an attempt
//   ABORTED, splittable       a crash: runs alone, then is halved, down to one file in quarantine
//   error that can pass       again after a pause, up to max_attempts
//   any other error           failed
//
// Returns nullopt if the job has ended: only the store knows what became of the task. OK also for a
// repeated completion, so that a worker may send one again after a broken connection.
// FAILED_PRECONDITION: the lease is lost, and the worker drops its result.
std::optional<absl::Status> Outcomes::Complete(const v1::Completion& completion,
                                               const WorkerId& worker, Change& change) {
  const v1::LeaseRef& lease = completion.lease();
  if (completion.outcome_case() == v1::Completion::OUTCOME_NOT_SET) {
    return absl::InvalidArgumentError("outcome: must be set");
  }
  Job* const job = jobs_.Running(TaskJob(lease.task()));
  const uint32_t index = TaskIndex(lease.task());
  if (!dispatcher_.Holds(lease, worker.caller)) {
    if (jobs_.HasEnded(TaskJob(lease.task()))) return std::nullopt;
    const Job::Task* const task = job == nullptr ? nullptr : job->Find(index);
    return task == nullptr ? StatusOfRepeated(lease, TaskState::kReady, /*token=*/0)
                           : StatusOfRepeated(lease, task->state, task->token);
  }
  LeaseTerms terms = *dispatcher_.FindTerms(lease.task());
  if (terms.name.empty()) terms.name = worker.name;  // restored after a restart
  attempts_.Ended(*job, index, terms, MakeEnd(completion), change);
  const std::vector<uint64_t> followers = dispatcher_.ReleaseLease(lease.task());
  absl::Status taken;
  if (completion.has_result()) {
    taken = Succeeded(lease.task(), followers, completion.result(), completion.cached(), change);
    if (taken.ok()) return taken;
  }
  for (const uint64_t follower : followers) dispatcher_.Requeue(follower);
  if (!taken.ok()) {
    const auto error = absl::InternalError(absl::StrCat("invalid result: ", taken.message()));
    attempts_.Retract(change);
    attempts_.Ended(*job, index, terms, {"failed", error, completion.timing()}, change);
    AttemptFailed({*job, index, lease.token(), error}, /*again=*/true, change);
    return taken;
  }
  if (completion.has_handback()) {
    job->HandedBack(index, change);
    return absl::OkStatus();
  }
  const int64_t pause_ms = std::clamp<int64_t>(completion.retry_after_ms(), 0, kMaxPauseMs);
  if (pause_ms > 0) {
    dispatcher_.PauseHost(*job, index, clock_.Now() + std::chrono::milliseconds(pause_ms));
  }
  const FailedAttempt attempt = {*job, index, lease.token(), ToError(completion.error())};
  if (absl::IsAborted(attempt.error) && GetStageInfo(job->Find(index)->key.stage).splittable) {
    Crashed(attempt, terms.alone, change);
  } else {
    AttemptFailed(attempt, IsRetryable(attempt.error), change);
  }
  return absl::OkStatus();
}

// A task remembers the token of its last attempt, so a completion that was taken is known by it.
absl::Status Outcomes::StatusOfRepeated(const v1::LeaseRef& lease, TaskState state,
                                        uint64_t token) {
  if (lease.token() != 0 && token == lease.token() && state != TaskState::kLeased) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("task ", lease.task(), ": the lease ", lease.token(), " is no longer held"));
}

// Gives the result to the task and its followers, which may belong to other jobs. EndIfOver
// destroys a job that ends, so `job` is looked up again for each follower.
absl::Status Outcomes::Succeeded(uint64_t task, const std::vector<uint64_t>& followers,
                                 const v1::StageResult& result, bool cached, Change& change) {
  Job* job = jobs_.Running(TaskJob(task));
  std::optional<PinRecord> pin;  // made before the job replaces the source by its pinned form
  if (const std::optional<v1::Source> source = job->SourceToPin(TaskIndex(task))) {
    pin = MakePinRecord(*source, result, clock_.WallNow());
  }
  RETURN_IF_ERROR(job->Succeeded(TaskIndex(task), result, cached, change));
  attempts_.Succeeded(*job, TaskIndex(task), cached ? Origin::kCache : Origin::kRun, result);
  if (pin.has_value()) change.pins.push_back(*pin);
  EndIfOver(*job, change);
  for (const uint64_t follower : followers) {
    job = jobs_.Running(TaskJob(follower));
    // Its job may have ended or restarted since it began to follow.
    const Job::Task* waiting = job == nullptr ? nullptr : job->Find(TaskIndex(follower));
    if (waiting == nullptr || waiting->state != TaskState::kReady) continue;
    attempts_.Ended(*job, TaskIndex(follower), {}, {"cached"}, change);
    // Another job's plan may check the result differently, so this may fail.
    if (job->Succeeded(TaskIndex(follower), result, /*cached=*/true, change).ok()) {
      attempts_.Succeeded(*job, TaskIndex(follower), Origin::kShared, result);
    } else {
      dispatcher_.Requeue(follower);
    }
    EndIfOver(*job, change);
  }
  return absl::OkStatus();
}

// Doubles the pause with each attempt, up to kMaxBackoffFactor. The jitter of 40 % spreads the
// tasks that failed together.
Clock::Time Outcomes::RetryAt(int attempts) {
  const int factor = std::min(1 << std::min(attempts, 5), kMaxBackoffFactor);
  const double jitter = absl::Uniform(random_, 0.6, 1.0);
  return clock_.Now() +
         std::chrono::duration_cast<Clock::Duration>(options_.retry_backoff * factor * jitter);
}

// An input that the store has lost cannot come back by itself: the job begins again, and the stage
// that made the input runs again, because its cached result is no longer served.
void Outcomes::AttemptFailed(const FailedAttempt& attempt, bool again, Change& change) {
  const auto& [job, index, token, error] = attempt;
  const Job::Task& task = *job.Find(index);
  // Crashes have their own limit, so they do not count here.
  const int errors = std::max(task.attempts - task.crashes, 0) + 1;
  if (IsLostInput(job, index, error) && job.runs() < kMaxRuns) {
    LogWarning("the store lost an input; restarting the job",
               {{"job", job.id()}, {"error", error.ToString()}});
    attempts_.Retried(job, index, error);
    BeginAgain(job, change);
    return;
  }
  if (!again) {
    Fail(attempt, change);
  } else if (errors >= options_.max_attempts) {
    Fail(GiveUp(attempt, errors), change);
  } else {
    attempts_.Retried(job, index, error);
    job.AttemptLost(index, {token, error, Job::Crash::kNone, RetryAt(task.attempts)}, change);
  }
  EndIfOver(job, change);
}

// In stages that use a host, the error may be the host's answer. All other stages only read the
// store, which lost a blob or found it damaged.
bool Outcomes::IsLostInput(const Job& job, uint32_t index, const absl::Status& error) {
  return (absl::IsNotFound(error) || absl::IsDataLoss(error)) &&
         !GetStageInfo(job.Find(index)->key.stage).calls_host;
}

void Outcomes::BeginAgain(Job& job, Change& change) {
  dispatcher_.ReleaseJobLeases(job);
  jobs_.BeginAgain(job, change);
}

// Adds to the error how often the task was tried.
Outcomes::FailedAttempt Outcomes::GiveUp(FailedAttempt attempt, int attempts) {
  attempt.error = Annotate(attempt.error, absl::StrCat("gave up after ", attempts, " attempts"));
  return attempt;
}

void Outcomes::Fail(const FailedAttempt& attempt, Change& change) {
  const auto& [job, index, token, error] = attempt;
  if (const std::optional<v1::Source> source = job.SourceToPin(index)) {
    if (auto pin = MakePinRecord(*source, error, clock_.WallNow())) change.pins.push_back(*pin);
  }
  attempts_.GivenUp(job, index, error);
  job.Failed(index, token, error, change);
}

void Outcomes::AttemptCrashed(const EndedLease& lease, const absl::Status& error, Change& change) {
  Job* const job = jobs_.Running(TaskJob(lease.task));
  if (job == nullptr) return;  // an earlier lease of this loop ended the job
  const uint32_t index = TaskIndex(lease.task);
  attempts_.Ended(*job, index, lease.terms, {"lost", error}, change);
  Crashed({*job, index, /*token=*/0, error}, lease.terms.alone, change);
}

// Handles a crash of a worker while it ran the task. The first crash, in company, only marks the
// task; from then on it runs alone. After crash_limit crashes alone a shard is halved, which finds
// the file that crashes in O(log n) steps; a single file is put into quarantine after max_attempts.
void Outcomes::Crashed(const FailedAttempt& attempt, bool alone, Change& change) {
  const auto& [job, index, token, error] = attempt;
  const Job::Task& task = *job.Find(index);
  // A crash in company does not tell which task caused it, so it counts once at most.
  const int crashes = alone ? task.crashes + 1 : 1;
  const bool halvable = GetStageInfo(task.key.stage).splittable && job.CountItems(index) > 1;
  const int limit = halvable ? options_.crash_limit : options_.max_attempts;
  if (!alone || crashes < limit) {
    attempts_.Retried(job, index, error);
    const Job::Crash crash = alone ? Job::Crash::kAlone : Job::Crash::kInCompany;
    job.AttemptLost(index, {token, error, crash, /*retry_at=*/clock_.Now()}, change);
  } else {
    SplitOrFail(GiveUp(attempt, crashes), change);
  }
  EndIfOver(job, change);
}

// The halves begin one crash below the limit, so that the next crash halves them at once.
void Outcomes::SplitOrFail(const FailedAttempt& attempt, Change& change) {
  const auto& [job, index, token, error] = attempt;
  const auto begin = static_cast<uint8_t>(std::max(1, options_.crash_limit - 1));
  if (job.Split(index, error, begin, change)) {
    attempts_.Split(job, index, error);
  } else {
    attempts_.GivenUp(job, index, error);
    job.Failed(index, token, error, change);
  }
}

// Does nothing while the job runs. Otherwise it ends the leases of the job and moves it to the
// ended jobs; `job` must not be used afterwards.
void Outcomes::EndIfOver(Job& job, Change& change) {
  if (!job.ended()) return;
  for (const uint32_t index : job.LeasedTasks()) {
    const LeaseTerms* const terms = dispatcher_.FindTerms(TaskId(job.sequence(), index));
    if (terms == nullptr) continue;
    attempts_.Ended(job, index, *terms, {"lost", absl::CancelledError("the job has ended")},
                    change);
  }
  dispatcher_.ReleaseJobLeases(job);
  jobs_.End(job, change);
  attempts_.JobEnded(change.ended.back().status);
}

void Outcomes::Cancel(Job& job, Change& change) {
  job.Cancel();
  EndIfOver(job, change);
}

// A worker's new incarnation proves that its process has ended, perhaps by a crash, so all its
// leases count as crashes at once.
void Outcomes::WorkerEnded(uint64_t run, Change& change) {
  if (run == 0) return;
  for (const EndedLease& lease : dispatcher_.TakeWorkerLeases(run)) {
    AttemptCrashed(lease, absl::AbortedError("the worker ended while it ran the task"), change);
  }
}

// A worker that is silent may have crashed, so expiry counts as a crash too.
void Outcomes::Expire(Change& change) {
  for (const EndedLease& lease : dispatcher_.TakeExpired()) {
    AttemptCrashed(lease,
                   absl::DeadlineExceededError("the worker was silent until the lease expired"),
                   change);
  }
  dispatcher_.ReadyDue();
}

}  // namespace kernelmill::coordinator
