// The part of Scheduler that takes what workers hand in, and deals with those that hand in nothing.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "services/coordinator/core/scheduler.h"
#include "services/coordinator/core/visits.h"

namespace kernelmill::coordinator {
namespace {

constexpr int kMaxBackoffFactor = 30;
constexpr int64_t kMaxPauseMs = int64_t{24} * 60 * 60 * 1000;  // of a host, at its wish

absl::Status Stale(const v1::LeaseRef& lease) {
  return absl::FailedPreconditionError(
      absl::StrCat("task ", lease.task(), ": the lease ", lease.token(), " is not held"));
}

// The wire's status as ours; an error that says OK is one all the same.
absl::Status ErrorOf(const google::rpc::Status& error) {
  const auto code = static_cast<absl::StatusCode>(error.code());
  if (code == absl::StatusCode::kOk) return absl::InternalError("an error without a code");
  return absl::Status(code, error.message());
}

void LogAttempt(const Job& job, const Job::Task& task, const absl::Status& error) {
  LogWarning("attempt failed", {{"job", job.id()},
                                {"stage", StageInfoOf(task.key.stage).name},
                                {"source", task.key.source},
                                {"shard", task.key.shard},
                                {"piece", task.key.piece},
                                {"attempt", task.attempts + 1},
                                {"error", error.ToString()}});
}

}  // namespace

absl::StatusOr<std::vector<absl::Status>> Scheduler::Complete(
    const std::vector<v1::Completion>& completions) {
  RETURN_IF_ERROR(status());
  std::vector<absl::Status> statuses;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    const Clock::Time now = clock_.Now();
    Change change;
    Expire(now, change);
    for (const v1::Completion& completion : completions) {
      statuses.push_back(CompleteOne(completion, now, change));
    }
    Append(std::move(change));
    ticket = commits_.last();  // of changes made before too: a repeated completion answers for them
  }
  RETURN_IF_ERROR(commits_.Wait(ticket, /*sync=*/!options_.abandon_unfinished));
  return statuses;
}

absl::Status Scheduler::CompleteOne(const v1::Completion& completion, Clock::Time now,
                                    Change& change) {
  const v1::LeaseRef& lease = completion.lease();
  if (completion.outcome_case() == v1::Completion::OUTCOME_NOT_SET) {
    return absl::InvalidArgumentError("a completion without an outcome");
  }
  if (!leases_.Holds(lease.task(), lease.token())) return Repeated(lease);
  Job& job = *Running(lease.task());  // a lease is of a running job
  const uint32_t index = IndexOf(lease.task());
  const std::vector<uint64_t> followers = LetGo(leases_.Release(lease.task()));
  if (completion.has_result()) {
    Succeeded(lease.task(), followers, completion.result(), completion.cached(), change);
    return absl::OkStatus();
  }
  for (const uint64_t follower : followers) Requeue(follower);
  if (completion.has_handback()) {
    job.HandedBack(index, change);
  } else {
    const int64_t pause_ms = std::clamp<int64_t>(completion.retry_after_ms(), 0, kMaxPauseMs);
    if (pause_ms > 0) {
      hosts_.Pause(job.HostOf(index), now + std::chrono::milliseconds(pause_ms));
    }
    AttemptFailed(job, index, lease.token(), ErrorOf(completion.error()), now, change);
  }
  return absl::OkStatus();
}

void Scheduler::Succeeded(uint64_t task, const std::vector<uint64_t>& followers,
                          const v1::StageResult& result, bool cached, Change& change) {
  Job* job = Running(task);
  if (const v1::Source* source = job->SourceToPin(IndexOf(task))) {
    if (auto visit = VisitOf(*source, result, clock_.WallNow())) change.visits.push_back(*visit);
  }
  job->Succeeded(IndexOf(task), result, cached, change);
  Settle(*job, change);
  for (const uint64_t follower : followers) {
    job = Running(follower);
    // Its job may have ended, or be run anew, since it began to follow.
    const Job::Task* waiting = job == nullptr ? nullptr : job->Find(IndexOf(follower));
    if (waiting == nullptr || waiting->state != TaskState::kReady) continue;
    job->Succeeded(IndexOf(follower), result, /*cached=*/true, change);
    Settle(*job, change);
  }
}

std::vector<uint64_t> Scheduler::LetGo(const LeaseTable::Terms& terms) {
  hosts_.Release(terms.host);
  return in_flight_.End(terms.action);
}

absl::Status Scheduler::Repeated(const v1::LeaseRef& lease) {
  if (lease.token() == 0) return Stale(lease);
  if (Job* job = Running(lease.task())) {
    const Job::Task* task = job->Find(IndexOf(lease.task()));
    const bool taken =
        task != nullptr && task->state != TaskState::kLeased && task->token == lease.token();
    return taken ? absl::OkStatus() : Stale(lease);
  }
  const auto ended = ended_.find(JobOf(lease.task()));
  if (ended == ended_.end()) return Stale(lease);
  RETURN_IF_ERROR(commits_.Wait(ended->second.ticket, /*sync=*/false));
  const absl::StatusOr<TaskRow> row = store_.Task(lease.task());
  if (absl::IsNotFound(row.status())) return Stale(lease);
  RETURN_IF_ERROR(row.status());
  const bool taken = row->state != TaskState::kLeased && row->token == lease.token();
  return taken ? absl::OkStatus() : Stale(lease);
}

Clock::Time Scheduler::RetryAt(int attempts, Clock::Time now) {
  const int factor = std::min(1 << std::min(attempts, 5), kMaxBackoffFactor);
  const double jitter = absl::Uniform(random_, 0.6, 1.0);
  return now +
         std::chrono::duration_cast<Clock::Duration>(options_.retry_backoff * factor * jitter);
}

void Scheduler::AttemptFailed(Job& job, uint32_t index, uint64_t token, const absl::Status& error,
                              Clock::Time now, Change& change) {
  const Job::Task& task = *job.Find(index);
  LogAttempt(job, task, error);
  // Those that ended with the worker have a limit of their own.
  const int errors = std::max(task.attempts - task.crashes, 0) + 1;
  if (!IsRetryable(error)) {
    GiveUp(job, index, token, error, change);
  } else if (errors >= options_.max_attempts) {
    GiveUp(job, index, token, Annotate(error, absl::StrCat("gave up after ", errors, " attempts")),
           change);
  } else {
    job.AttemptLost(index, token, error, Job::Crash::kNone, RetryAt(task.attempts, now), change);
  }
  Settle(job, change);
}

void Scheduler::GiveUp(Job& job, uint32_t index, uint64_t token, const absl::Status& error,
                       Change& change) {
  if (const v1::Source* source = job.SourceToPin(index)) {
    if (auto visit = VisitOf(*source, error, clock_.WallNow())) change.visits.push_back(*visit);
  }
  job.Failed(index, token, error, change);
}

void Scheduler::AttemptCrashed(const LeaseTable::Ended& lease, const absl::Status& error,
                               Clock::Time now, Change& change) {
  for (const uint64_t follower : LetGo(lease.terms)) Requeue(follower);
  Job* const job = Running(lease.task);
  if (job == nullptr) return;  // another one in the caller's list ended the job
  const uint32_t index = IndexOf(lease.task);
  const Job::Task& task = *job->Find(index);
  LogAttempt(*job, task, error);
  // What ran in company is not known to be the one that ended the worker.
  const int crashes = lease.terms.alone ? task.crashes + 1 : 1;
  const bool single = !StageInfoOf(task.key.stage).splittable || job->FilesOf(index) <= 1;
  const int limit = single ? options_.max_attempts : options_.crash_limit;
  if (!lease.terms.alone || crashes < limit) {
    job->AttemptLost(index, /*token=*/0, error,
                     lease.terms.alone ? Job::Crash::kAlone : Job::Crash::kInCompany,
                     /*retry_at=*/now, change);
  } else {
    const absl::Status why = Annotate(error, absl::StrCat("gave up after ", crashes, " attempts"));
    const auto begin = static_cast<uint8_t>(std::max(1, options_.crash_limit - 1));
    if (job->Split(index, why, begin, change)) {
      LogWarning("a shard is taken apart", {{"job", job->id()}, {"task", lease.task}});
    } else {
      job->Failed(index, /*token=*/0, why, change);
    }
  }
  Settle(*job, change);
}

void Scheduler::Expire(Clock::Time now, Change& change) {
  for (const LeaseTable::Ended& lease : leases_.TakeExpired(now)) {
    AttemptCrashed(
        lease, absl::DeadlineExceededError("its worker was not heard of before the lease ran out"),
        now, change);
  }
  for (const uint64_t task : hosts_.TakeRunnable(now)) Requeue(task);
  for (const auto& [sequence, job] : running_) {
    if (job->Promote(now)) ready_.Notify();
  }
}

void Scheduler::Tick() {
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    Change change;
    Expire(clock_.Now(), change);
    ticket = Append(std::move(change));
  }
  // An error stays in status(), where the owner looks.
  if (status().ok()) commits_.Wait(ticket, /*sync=*/false).IgnoreError();
}

}  // namespace kernelmill::coordinator
