#include "services/coordinator/core/job.h"

#include <map>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::coordinator {

std::string PlanFingerprint() {
  std::string text;
  for (int i = 0; i < kStageCount; ++i) {
    const auto stage = static_cast<StageId>(i);
    absl::StrAppend(&text, StageName(stage), "=", StageVersion(stage), ";");
  }
  return text;
}

Job::Job(uint32_t sequence, v1::JobStatus base, v1::JobSpec spec)
    : sequence_(sequence), base_(std::move(base)), plan_(std::move(spec)) {
  for (int i = 0; i < kStageCount; ++i) {
    progress_[i].set_stage(std::string(StageName(static_cast<StageId>(i))));
  }
}

void Job::Start(Change& change) { Create(plan_.Start(), change); }

void Job::Create(const std::vector<TaskKey>& keys, Change& change) {
  for (const TaskKey& key : keys) {
    tasks_.push_back({.key = key});
    const auto index = static_cast<uint32_t>(tasks_.size());
    v1::StageProgress& progress = ProgressOf(tasks_.back());
    progress.set_total(progress.total() + 1);
    ready_.Push(key.stage, index);
    change.tasks.push_back(RowOf(index));
  }
}

TaskRow Job::RowOf(uint32_t index) const {
  const Task& task = tasks_[index - 1];
  TaskRow row;
  row.id = TaskId(sequence_, index);
  row.key = task.key;
  row.state = task.state;
  row.attempts = task.attempts;
  row.token = task.token;
  return row;
}

const Job::Task* Job::Find(uint32_t index) const {
  return index >= 1 && index <= tasks_.size() ? &tasks_[index - 1] : nullptr;
}

void Job::SetState(Task& task, TaskState state) {
  v1::StageProgress& progress = ProgressOf(task);
  const auto count = [&](TaskState of, int by) {
    if (of == TaskState::kLeased) progress.set_running(progress.running() + by);
    if (of == TaskState::kDone) progress.set_done(progress.done() + by);
    if (of == TaskState::kFailed) progress.set_failed(progress.failed() + by);
  };
  count(task.state, -1);
  count(state, +1);
  task.state = state;
  ++version_;
}

void Job::Leased(uint32_t index, uint64_t token, Change& change) {
  Task& task = At(index);
  SetState(task, TaskState::kLeased);
  task.token = token;
  change.tasks.push_back(RowOf(index));
}

void Job::HandedBack(uint32_t index, Change& change) {
  Task& task = At(index);
  SetState(task, TaskState::kReady);
  ready_.Push(task.key.stage, index);
  change.tasks.push_back(RowOf(index));
}

void Job::AttemptLost(uint32_t index, uint64_t token, Clock::Time retry_at, Change& change) {
  Task& task = At(index);
  SetState(task, TaskState::kReady);
  ++task.attempts;
  task.token = token;
  ready_.PushLater(task.key.stage, index, retry_at);
  change.tasks.push_back(RowOf(index));
}

void Job::Succeeded(uint32_t index, const v1::StageResult& result, bool cached, Change& change) {
  Task& task = At(index);
  absl::StatusOr<std::vector<TaskKey>> next = plan_.Succeed(task.key, result);
  if (!next.ok()) {
    Failed(index, task.token,
           absl::InternalError(absl::StrCat("not a result: ", next.status().message())), change);
    return;
  }
  SetState(task, TaskState::kDone);
  if (cached) ProgressOf(task).set_cached(ProgressOf(task).cached() + 1);
  TaskRow row = RowOf(index);
  row.cached = cached;
  row.result = result;
  change.tasks.push_back(std::move(row));
  Create(*next, change);  // `task` is no longer valid
}

void Job::Failed(uint32_t index, uint64_t token, const absl::Status& error, Change& change) {
  Task& task = At(index);
  SetState(task, TaskState::kFailed);
  ++task.attempts;
  task.token = token;
  TaskRow row = RowOf(index);
  row.error = error;
  change.tasks.push_back(std::move(row));
  Create(plan_.Fail(task.key, error), change);
}

// The basic idea: rows stand in the order in which their tasks were created, and a task is created
// by an outcome of one before it. So a single pass in that order meets every task after the plan
// has asked for it again. What the plan asks for and what was kept must be the same set.
bool Job::Replay(const std::vector<TaskRow>& rows) {
  std::map<TaskKey, uint32_t> index_of;
  for (const TaskRow& row : rows) {
    tasks_.push_back({row.key, row.attempts, row.token, TaskState::kReady});
    if (IndexOf(row.id) != tasks_.size() || !index_of.emplace(row.key, tasks_.size()).second) {
      return false;
    }
  }
  std::vector<bool> planned(rows.size() + 1);
  size_t planned_count = 0;
  const auto plan = [&](const std::vector<TaskKey>& keys) {
    for (const TaskKey& key : keys) {
      const auto at = index_of.find(key);
      if (at == index_of.end() || planned[at->second]) return false;
      planned[at->second] = true;
      ++planned_count;
    }
    return true;
  };
  if (!plan(plan_.Start())) return false;
  for (uint32_t index = 1; index <= rows.size(); ++index) {
    const TaskRow& row = rows[index - 1];
    if (!planned[index] || ended()) return false;
    Task& task = At(index);
    ProgressOf(task).set_total(ProgressOf(task).total() + 1);
    SetState(task, row.state);
    if (row.state == TaskState::kReady) {
      ready_.Push(row.key.stage, index);
    } else if (row.state == TaskState::kDone) {
      const absl::StatusOr<std::vector<TaskKey>> next = plan_.Succeed(row.key, row.result);
      if (!next.ok() || !plan(*next)) return false;
      if (row.cached) ProgressOf(task).set_cached(ProgressOf(task).cached() + 1);
    } else if (row.state == TaskState::kFailed) {
      if (!plan(plan_.Fail(row.key, row.error))) return false;
    }
  }
  return planned_count == rows.size() && !ended();
}

std::vector<uint32_t> Job::LeasedTasks() const {
  std::vector<uint32_t> leased;
  for (uint32_t index = 1; index <= tasks_.size(); ++index) {
    if (tasks_[index - 1].state == TaskState::kLeased) leased.push_back(index);
  }
  return leased;
}

v1::JobStatus Job::Summary() const {
  v1::JobStatus status = base_;
  status.set_state(plan_.state());
  for (const v1::StageProgress& progress : progress_) *status.add_stages() = progress;
  return status;
}

v1::JobStatus Job::Status() const {
  v1::JobStatus status = Summary();
  plan_.FillStatus(status);
  return status;
}

}  // namespace kernelmill::coordinator
