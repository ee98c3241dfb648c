// The other half of Scheduler: who may run which task, and what becomes of what they hand in.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "services/coordinator/core/scheduler.h"

namespace kernelmill::coordinator {
namespace {

constexpr int kMaxBackoffFactor = 30;

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

}  // namespace

Job* Scheduler::Running(uint64_t task) {
  const auto job = running_.find(JobOf(task));
  return job == running_.end() ? nullptr : job->second.get();
}

absl::StatusOr<std::vector<v1::LeasedTask>> Scheduler::Lease(const StageSet& stages,
                                                             int max_tasks) {
  RETURN_IF_ERROR(status());
  std::vector<v1::LeasedTask> tasks;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (draining_) return absl::UnavailableError("the coordinator is draining");
    const Clock::Time now = clock_.Now();
    Change change;
    Expire(now, change);
    // Round robin: from the job after the one served last, until a whole round has found nothing.
    size_t fruitless = 0;
    while (static_cast<int>(tasks.size()) < max_tasks && fruitless < running_.size()) {
      auto at = running_.upper_bound(last_served_);
      if (at == running_.end()) at = running_.begin();
      last_served_ = at->first;
      const std::optional<uint32_t> index = at->second->PopReady(stages);
      if (!index.has_value()) {
        ++fruitless;
        continue;
      }
      fruitless = 0;
      LeaseOne(*at->second, *index, now, tasks.emplace_back(), change);
    }
    ticket = Append(std::move(change));
  }
  if (!tasks.empty()) RETURN_IF_ERROR(commits_.Wait(ticket, /*sync=*/false));
  return tasks;
}

void Scheduler::LeaseOne(Job& job, uint32_t index, Clock::Time now, v1::LeasedTask& task,
                         Change& change) {
  const uint64_t id = TaskId(job.sequence(), index);
  const uint64_t token = leases_.Grant(id, now);
  job.Leased(index, token, change);
  task.set_task(id);
  task.set_token(token);
  task.set_ttl_ms(static_cast<int32_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(leases_.ttl()).count()));
  task.set_attempt(static_cast<int32_t>(job.Find(index)->attempts) + 1);
  task.set_job(job.id());
  *task.mutable_action() = job.ActionOf(index);
}

absl::StatusOr<std::vector<v1::LeaseRef>> Scheduler::Renew(
    const std::vector<v1::LeaseRef>& leases) {
  RETURN_IF_ERROR(status());
  absl::MutexLock lock(&mutex_);
  const Clock::Time now = clock_.Now();
  Change change;
  Expire(now, change);
  Append(std::move(change));  // kept with the next change that somebody waits for
  std::vector<v1::LeaseRef> lost;
  for (const v1::LeaseRef& lease : leases) {
    if (!leases_.Renew(lease.task(), lease.token(), now)) lost.push_back(lease);
  }
  return lost;
}

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
  leases_.Release(lease.task());
  if (completion.has_handback()) {
    job.HandedBack(index, change);
  } else if (completion.has_result()) {
    job.Succeeded(index, completion.result(), completion.cached(), change);
    Settle(job, change);
  } else {
    const absl::Status error = ErrorOf(completion.error());
    const int factor = 1 << std::min<uint32_t>(job.Find(index)->attempts, 5);
    AttemptEnded(job, index, lease.token(), error,
                 now + options_.retry_backoff * std::min(factor, kMaxBackoffFactor), change);
  }
  return absl::OkStatus();
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

void Scheduler::AttemptEnded(Job& job, uint32_t index, uint64_t token, const absl::Status& error,
                             Clock::Time retry_at, Change& change) {
  const int attempts = static_cast<int>(job.Find(index)->attempts) + 1;
  const TaskKey key = job.Find(index)->key;
  LogWarning("attempt failed", {{"job", job.id()},
                                {"stage", StageName(key.stage)},
                                {"source", key.source},
                                {"shard", key.shard},
                                {"attempt", attempts},
                                {"error", error.ToString()}});
  if (!IsRetryable(error)) {
    job.Failed(index, token, error, change);
  } else if (attempts >= options_.max_attempts) {
    job.Failed(index, token, Annotate(error, absl::StrCat("gave up after ", attempts, " attempts")),
               change);
  } else {
    job.AttemptLost(index, token, retry_at, change);
  }
  Settle(job, change);
}

void Scheduler::Expire(Clock::Time now, Change& change) {
  for (const uint64_t task : leases_.TakeExpired(now)) {
    Job* job = Running(task);
    if (job == nullptr) continue;  // an earlier one in this list ended the job
    AttemptEnded(
        *job, IndexOf(task), /*token=*/0,
        absl::DeadlineExceededError("its worker was not heard of before the lease ran out"), now,
        change);
  }
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
