// The part of Scheduler that ends jobs, runs them again and forgets them, at the wish of a client.

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "services/coordinator/core/scheduler.h"

namespace kernelmill::coordinator {

std::vector<Scheduler::Brief> Scheduler::ListBriefly() const {
  absl::MutexLock lock(&mutex_);
  std::vector<Brief> jobs;
  for (const auto& [sequence, job] : running_) {
    jobs.push_back({job->id(), v1::JOB_STATE_RUNNING, {}});
  }
  for (const auto& [sequence, ended] : ended_) {
    jobs.push_back({ended.summary.job(), ended.summary.state(), ended.summary.dataset()});
  }
  return jobs;
}

absl::StatusOr<v1::JobStatus> Scheduler::Cancel(const std::string& id) {
  RETURN_IF_ERROR(status());
  {
    absl::MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(const uint32_t sequence, SequenceOf(id));
    const auto job = running_.find(sequence);
    if (job != running_.end()) {
      Change change;
      job->second->Cancel();
      Settle(*job->second, change);
    }
  }
  return GetJob(id);  // which waits until its end is kept
}

absl::StatusOr<v1::JobStatus> Scheduler::Retry(const std::string& id) {
  RETURN_IF_ERROR(status());
  ASSIGN_OR_RETURN(const v1::JobStatus before, GetJob(id));
  if (before.state() == v1::JOB_STATE_RUNNING) return before;
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(const uint32_t sequence, SequenceOf(id));
    if (running_.count(sequence) == 0) {  // nobody else was faster
      RETURN_IF_ERROR(CheckRoom());
      JobRow row;
      row.sequence = sequence;
      row.plan = PlanFingerprint();
      row.spec = before.lock();
      if (!before.has_lock()) {
        ASSIGN_OR_RETURN(row.spec, store_.Spec(sequence));
      }
      row.status.set_job(id);
      row.status.set_name(before.name());
      row.status.set_state(v1::JOB_STATE_RUNNING);
      row.status.set_submitted_unix_ms(before.submitted_unix_ms());
      row.status.set_priority(before.priority());
      row.status.set_runs(std::max(before.runs(), 1) + 1);
      auto job = std::make_unique<Job>(sequence, row.status, row.spec);
      Change change;
      change.erased.push_back(sequence);
      job->Start(change);
      running_[sequence] = std::move(job);
      ended_.erase(sequence);
      change.jobs.push_back(std::move(row));
      ticket = Append(std::move(change));
      LogInfo("job runs again", {{"job", id}, {"run", before.runs() + 1}});
    }
  }
  RETURN_IF_ERROR(commits_.Wait(ticket, /*sync=*/true));
  return GetJob(id);
}

uint64_t Scheduler::Forget(uint32_t sequence) {
  const std::string id = IdOf(sequence);
  ended_.erase(sequence);
  ids_.erase(id);
  for (auto at = requests_.begin(); at != requests_.end();) {
    at = at->second == sequence ? requests_.erase(at) : std::next(at);
  }
  LogInfo("job deleted", {{"job", id}});
  Change change;
  change.deleted.push_back(sequence);
  return Append(std::move(change));
}

absl::Status Scheduler::Delete(const std::string& id) {
  RETURN_IF_ERROR(status());
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(const uint32_t sequence, SequenceOf(id));
    if (running_.count(sequence) > 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("job ", id, " is running; cancel it first"));
    }
    ticket = Forget(sequence);
  }
  return commits_.Wait(ticket, /*sync=*/true);
}

absl::Status Scheduler::DeleteOldJobs(absl::Time now) {
  if (options_.job_retention <= absl::ZeroDuration()) return absl::OkStatus();
  const int64_t before = absl::ToUnixMillis(now - options_.job_retention);
  uint64_t ticket = 0;
  {
    absl::MutexLock lock(&mutex_);
    std::vector<uint32_t> old;
    for (const auto& [sequence, ended] : ended_) {
      if (ended.summary.ended_unix_ms() <= before) old.push_back(sequence);
    }
    for (const uint32_t sequence : old) ticket = Forget(sequence);
  }
  return commits_.Wait(ticket, /*sync=*/true);
}

}  // namespace kernelmill::coordinator
