#include "services/coordinator/core/testing/memory_state_store.h"

namespace kernelmill::coordinator {

absl::Status MemoryStateStore::Write(const std::vector<Change>& changes, bool sync) {
  absl::MutexLock lock(&mutex_);
  if (!error_.ok()) return error_;
  for (const Change& change : changes) {
    for (const uint32_t job : change.erased) {
      now_.tasks.erase(now_.tasks.lower_bound(TaskId(job, 0)),
                       now_.tasks.lower_bound(TaskId(job + 1, 0)));
    }
    for (const uint32_t job : change.deleted) {
      now_.jobs.erase(job);
      now_.tasks.erase(now_.tasks.lower_bound(TaskId(job, 0)),
                       now_.tasks.lower_bound(TaskId(job + 1, 0)));
    }
    for (const JobRow& job : change.jobs) {
      now_.jobs[job.sequence] = job;
      now_.last_sequence = std::max(now_.last_sequence, job.sequence);
    }
    for (const auto& [job, status] : change.statuses) now_.jobs[job].status = status;
    for (const TaskRow& task : change.tasks) now_.tasks[task.id] = task;
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
       at != now_.tasks.end() && JobOf(at->first) == job; ++at) {
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
