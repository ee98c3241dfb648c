#include "services/coordinator/core/testing/memory_state_store.h"

namespace kernelmill::coordinator {

void MemoryStateStore::State::EraseTasks(uint32_t job) {
  const uint64_t first = TaskId(job, 0), end = TaskId(job + 1, 0);
  tasks.erase(tasks.lower_bound(first), tasks.lower_bound(end));
  spans.erase(spans.lower_bound({first, 0}), spans.lower_bound({end, 0}));
}

absl::Status MemoryStateStore::Write(const std::vector<Change>& changes, bool sync) {
  absl::MutexLock lock(&mutex_);
  if (!error_.ok()) return error_;
  for (const Change& change : changes) {
    for (const uint32_t job : change.erased) {
      now_.ended.erase(job);
      now_.EraseTasks(job);
    }
    for (const uint32_t job : change.deleted) {
      now_.jobs.erase(job);
      now_.ended.erase(job);
      now_.EraseTasks(job);
    }
    for (const JobRow& job : change.jobs) {
      now_.jobs[job.sequence] = job;
      now_.last_sequence = std::max(now_.last_sequence, job.sequence);
    }
    for (const EndedJob& job : change.ended) {
      now_.jobs[job.sequence].status = job.status;
      now_.ended[job.sequence] = job;
    }
    for (const TaskRow& task : change.tasks) now_.tasks[task.id] = task;
    for (const v1::TaskSpan& span : change.spans) now_.spans[{span.task(), span.attempt()}] = span;
    for (const PinRecord& pin : change.pins) now_.pins[{pin.git, pin.ref}] = pin;
  }
  if (sync) synced_ = now_;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<JobRow>> MemoryStateStore::Jobs() {
  absl::MutexLock lock(&mutex_);
  std::vector<JobRow> rows;
  for (const auto& [sequence, row] : now_.jobs) rows.push_back(row);
  for (JobRow& row : rows) row.spec.Clear();
  return rows;
}

absl::StatusOr<uint32_t> MemoryStateStore::LastSequence() {
  absl::MutexLock lock(&mutex_);
  return now_.last_sequence;
}

absl::Status MemoryStateStore::ForEachTask(uint32_t job,
                                           absl::FunctionRef<bool(const TaskRow&)> visit) {
  absl::MutexLock lock(&mutex_);
  for (auto at = now_.tasks.lower_bound(TaskId(job, 0));
       at != now_.tasks.end() && TaskJob(at->first) == job; ++at) {
    if (!visit(at->second)) break;
  }
  return absl::OkStatus();
}

absl::Status MemoryStateStore::ForEachSpan(uint64_t first_task,
                                           absl::FunctionRef<bool(const v1::TaskSpan&)> visit) {
  absl::MutexLock lock(&mutex_);
  for (auto at = now_.spans.lower_bound({first_task, 0});
       at != now_.spans.end() && TaskJob(at->first.first) == TaskJob(first_task); ++at) {
    if (!visit(at->second)) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::JobSpec> MemoryStateStore::Spec(uint32_t job) {
  absl::MutexLock lock(&mutex_);
  const auto at = now_.jobs.find(job);
  if (at == now_.jobs.end()) return absl::NotFoundError("no such job");
  return at->second.spec;
}

absl::StatusOr<v1::JobStatus> MemoryStateStore::Status(uint32_t job) {
  absl::MutexLock lock(&mutex_);
  const auto at = now_.jobs.find(job);
  if (at == now_.jobs.end()) return absl::NotFoundError("no such job");
  return at->second.status;
}

absl::StatusOr<std::vector<TaskFailure>> MemoryStateStore::Failures(uint32_t job,
                                                                    const TaskKey* after,
                                                                    size_t limit) {
  absl::MutexLock lock(&mutex_);
  std::vector<TaskFailure> failures;
  for (const TaskFailure& failure : now_.ended[job].failures) {
    if (failures.size() == limit) break;
    if (after == nullptr || *after < failure.task) failures.push_back(failure);
  }
  return failures;
}

absl::Status MemoryStateStore::ForEachLockPart(uint32_t job,
                                               absl::FunctionRef<bool(const v1::JobSpec&)> visit) {
  absl::MutexLock lock(&mutex_);
  const auto at = now_.ended.find(job);
  if (at == now_.ended.end()) return absl::OkStatus();
  for (const v1::JobSpec& part : at->second.lock) {
    if (!visit(part)) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<TaskRow> MemoryStateStore::Task(uint64_t id) {
  absl::MutexLock lock(&mutex_);
  const auto at = now_.tasks.find(id);
  if (at == now_.tasks.end()) return absl::NotFoundError("no such task");
  return at->second;
}

absl::StatusOr<PinRecord> MemoryStateStore::LastPin(const std::string& git,
                                                    const std::string& ref) {
  absl::MutexLock lock(&mutex_);
  const auto at = now_.pins.find({git, ref});
  if (at == now_.pins.end()) return absl::NotFoundError("never pinned");
  return at->second;
}

void MemoryStateStore::FailWrites(const absl::Status& error) {
  absl::MutexLock lock(&mutex_);
  error_ = error;
}

void MemoryStateStore::LosePower() {
  absl::MutexLock lock(&mutex_);
  now_ = synced_;
}

}  // namespace kernelmill::coordinator
