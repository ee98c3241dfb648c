#include "services/coordinator/core/jobs/job.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/toolchains/toolchains.h"

namespace kernelmill::coordinator {

namespace {

// Bounds on the errors in memory: how many retried tasks keep their last error, and how much of it.
constexpr size_t kMaxErrors = 10'000;
constexpr size_t kMaxErrorBytes = 500;
constexpr int kMaxTroubledShown = 100;
// The prefix of the error text of a waiting task. It holds its lease, and no attempt has failed.
constexpr char kWaitsFor[] = "waits for ";

}  // namespace

// Returns a text that differs if another build would plan or run a job's tasks differently: the
// versions of all stages and the pinned toolchains. It is stored with a job, and decides after a
// restart whether the stored tasks are still valid.
std::string PlanFingerprint() {
  std::string text;
  for (const StageInfo& stage : worker::StageTable()) {
    absl::StrAppend(&text, stage.name, "=", stage.version, ";");
  }
  for (const toolchains::PinnedToolchain& toolchain : toolchains::PinnedToolchains()) {
    absl::StrAppend(&text, toolchain.name, "=", toolchain.requirements_sha256, ";");
  }
  return text;
}

// A Job is one run of a job: the plan decides which tasks exist, Job keeps their states. A task's
// index is its place in tasks_ plus 1 and never changes, so an index is a stable half of the task's
// id (the other half is the job's sequence number).
//
// Invariants, which SetState keeps:
// - progress_ counts the tasks of each stage by state, leased_ the leased tasks of all stages.
// - suspects_ counts the open tasks that have crashed a worker.
// - A READY task is either in ready_, or waits outside: for its host (HostLimits), or for the same
//   action of another task (InFlightActions). Requeue brings it back.
// - errors_ and waiting_ have entries of open tasks only.
//
// Not thread-safe: the scheduler's mutex guards it. Every function that takes a Change adds the
// rows that must be stored.
Job::Job(uint32_t sequence, v1::JobStatus base, v1::JobSpec spec)
    : sequence_(sequence), base_(std::move(base)), plan_(std::move(spec)) {
  for (int i = 0; i < kStageCount; ++i) {
    progress_[i].set_stage(std::string(GetStageInfo(static_cast<StageId>(i)).name));
  }
}

void Job::Start(Change& change) { Create(plan_.Start(), 0, change); }

// Adds the tasks that the plan asks for. `crashes` is above 0 for the halves of a task that crashed
// workers: they run alone.
void Job::Create(const std::vector<TaskKey>& keys, uint8_t crashes, Change& change) {
  for (const TaskKey& key : keys) {
    tasks_.push_back({.key = key, .crashes = crashes});
    if (crashes > 0) ++suspects_;
    ready_times_.Add(change.unix_ms);
    const auto index = static_cast<uint32_t>(tasks_.size());
    v1::StageProgress& progress = GetProgress(tasks_.back());
    progress.set_total(progress.total() + 1);
    Push(index);
    change.tasks.push_back(MakeRow(index));
  }
}

void Job::Push(uint32_t index) {
  const Task& task = At(index);
  ready_.Push(task.key.stage, index, task.crashes > 0);
}

// A head of 0 means that a queue is empty. Heads are the oldest entries, so the loop need not look
// at all ready tasks.
void Job::AddTo(StageId stage, StageTasks& tasks) const {
  const v1::StageProgress& progress = progress_[static_cast<size_t>(stage)];
  tasks.total += progress.total();
  tasks.done += progress.done();
  tasks.failed += progress.failed();
  tasks.leased += progress.running();
  tasks.ready += ready_.Count(stage);
  tasks.backing_off += ready_.LaterCount(stage);
  for (const uint32_t head : ready_.Heads(stage)) {
    if (head == 0) continue;
    const int64_t since = ReadyAt(head);
    if (tasks.ready_since_ms == 0 || since < tasks.ready_since_ms) tasks.ready_since_ms = since;
  }
}

// A task that got a result or was cancelled while it waited is no longer READY and stays out of the
// queue.
void Job::Requeue(uint32_t index) {
  if (At(index).state == TaskState::kReady) Push(index);
}

TaskRow Job::MakeRow(uint32_t index) const {
  const Task& task = tasks_[index - 1];
  TaskRow row;
  row.id = TaskId(sequence_, index);
  row.key = task.key;
  row.state = task.state;
  row.attempts = task.attempts;
  row.crashes = task.crashes;
  row.token = task.token;
  if (const auto error = errors_.find(index); error != errors_.end()) row.error = error->second;
  return row;
}

// Returns null for an index of an earlier run that had more tasks.
const Job::Task* Job::Find(uint32_t index) const {
  return index >= 1 && index <= tasks_.size() ? &tasks_[index - 1] : nullptr;
}

// A split task counts as done: its parts take over its work and have their own entries in the
// total.
void Job::SetState(uint32_t index, TaskState state) {
  Task& task = At(index);
  v1::StageProgress& progress = GetProgress(task);
  const auto count = [&](TaskState of, int by) {
    if (of == TaskState::kLeased) progress.set_running(progress.running() + by);
    if (of == TaskState::kLeased) leased_ += by;
    if (of == TaskState::kDone || of == TaskState::kSplit) progress.set_done(progress.done() + by);
    if (of == TaskState::kFailed) progress.set_failed(progress.failed() + by);
  };
  count(task.state, -1);
  count(state, +1);
  const bool ends = state != TaskState::kReady && state != TaskState::kLeased;
  if (ends && task.crashes > 0) --suspects_;
  task.state = state;
  waiting_.erase(index);
  ++version_;
}

// Once kMaxErrors tasks have an error, further tasks get none, but a known task still gets its
// newest.
void Job::NoteError(uint32_t index, const absl::Status& error) {
  if (errors_.size() < kMaxErrors || errors_.count(index) > 0) {
    errors_[index] = absl::Status(error.code(), error.message().substr(0, kMaxErrorBytes));
  }
}

void Job::Leased(uint32_t index, uint64_t token, Change& change) {
  Task& task = At(index);
  SetState(index, TaskState::kLeased);
  task.token = token;
  change.tasks.push_back(MakeRow(index));
}

// Returns whether the status of the job changed. The worker repeats its text with each renewal, so
// most calls change nothing.
bool Job::SetWaiting(uint32_t index, const std::string& waits_for) {
  const auto before = waiting_.find(index);
  if (before == waiting_.end() ? waits_for.empty() : before->second == waits_for) return false;
  if (At(index).state != TaskState::kLeased) return false;
  if (waits_for.empty()) {
    waiting_.erase(before);
  } else if (before != waiting_.end() || waiting_.size() < kMaxErrors) {
    waiting_[index] = waits_for.substr(0, kMaxErrorBytes);
  }
  ++version_;
  return true;
}

// A task that its worker gives back unharmed (for example when the worker stops) is ready again and
// has used no attempt.
void Job::HandedBack(uint32_t index, Change& change) {
  SetState(index, TaskState::kReady);
  ready_times_.Set(index, change.unix_ms);
  Push(index);
  change.tasks.push_back(MakeRow(index));
}

// A crash in the company of other tasks raises `crashes` to 1 at most: it is unknown which task
// caused it. From then on the task runs alone, and each crash is its own.
void Job::AttemptLost(uint32_t index, const LostAttempt& attempt, Change& change) {
  const Crash crash = attempt.crash;
  Task& task = At(index);
  SetState(index, TaskState::kReady);
  if (task.attempts < std::numeric_limits<uint16_t>::max()) ++task.attempts;
  if (crash != Crash::kNone && task.crashes == 0) ++suspects_;
  if (crash == Crash::kInCompany) task.crashes = std::max<uint8_t>(task.crashes, 1);
  if (crash == Crash::kAlone && task.crashes < std::numeric_limits<uint8_t>::max()) ++task.crashes;
  task.token = attempt.token;
  NoteError(index, attempt.error);
  ready_times_.Set(index, change.unix_ms);
  ready_.PushLater(task.key.stage, index, task.crashes > 0, attempt.retry_at);
  change.tasks.push_back(MakeRow(index));
}

// The plan checks the result before any state changes, so an invalid result leaves the task as it
// was. INVALID_ARGUMENT: the result does not fit the task.
absl::Status Job::Succeeded(uint32_t index, const v1::StageResult& result, bool cached,
                            Change& change) {
  Task& task = At(index);
  ASSIGN_OR_RETURN(const std::vector<TaskKey> next, plan_.Succeed(task.key, result));
  SetState(index, TaskState::kDone);
  errors_.erase(index);
  if (cached) GetProgress(task).set_cached(GetProgress(task).cached() + 1);
  TaskRow row = MakeRow(index);
  row.cached = cached;
  row.result = result;
  change.tasks.push_back(std::move(row));
  Create(next, 0, change);
  return absl::OkStatus();
}

void Job::Failed(uint32_t index, uint64_t token, const absl::Status& error, Change& change) {
  Task& task = At(index);
  SetState(index, TaskState::kFailed);
  errors_.erase(index);
  ++task.attempts;
  task.token = token;
  TaskRow row = MakeRow(index);
  row.error = error;
  change.tasks.push_back(std::move(row));
  Create(plan_.Fail(task.key, error), 0, change);
}

// Replaces a task by its halves. Returns false if the task cannot be split; then nothing has
// changed.
bool Job::Split(uint32_t index, const absl::Status& error, uint8_t crashes, Change& change) {
  Task& task = At(index);
  const std::vector<TaskKey> parts = plan_.Split(task.key);
  if (parts.empty()) return false;
  SetState(index, TaskState::kSplit);
  errors_.erase(index);
  TaskRow row = MakeRow(index);
  row.error = error;
  change.tasks.push_back(std::move(row));
  for (const TaskKey& part : parts) {
    // A quarantined item is not run again, so it starts with 0 crashes. A single item can only be
    // quarantined next, so it starts with 1 and has all its attempts. Larger parts start with
    // `crashes`.
    const bool single = plan_.CountItems(part) == 1;
    const uint8_t begin = part.sub_shard & kQuarantined ? 0 : single ? 1 : crashes;
    Create({part}, begin, change);
  }
  return true;
}

// Moves tasks whose pause is over into the queue. Returns whether there were any.
bool Job::Promote(Clock::Time now, int64_t unix_ms) {
  const std::vector<uint32_t> promoted = ready_.Promote(now);
  for (const uint32_t index : promoted) ready_times_.Set(index, unix_ms);
  return !promoted.empty();
}

void Job::Cancel() {
  plan_.Cancel();
  ++version_;
}

std::optional<v1::Source> Job::SourceToPin(uint32_t index) const {
  const TaskKey& key = tasks_[index - 1].key;
  if (key.stage != StageId::kPin) return std::nullopt;
  return plan_.SourceAt(key.source);
}

// The basic idea: rows are in the order in which their tasks were created, and a task is created by
// the outcome of an earlier task. So one pass in that order meets each task after the plan has
// asked for it again. The plan's tasks and the stored rows must be the same set; otherwise another
// build wrote the rows, and the job is planned again.
absl::StatusOr<bool> Job::Replay(absl::FunctionRef<absl::Status(RowVisitor)> rows,
                                 int64_t unix_ms) {
  const std::vector<TaskKey> first = plan_.Start();
  absl::flat_hash_set<TaskKey> asked(first.begin(), first.end());
  bool fits = asked.size() == first.size();
  RETURN_IF_ERROR(
      rows([&](const TaskRow& row) { return fits = fits && ReplayRow(row, unix_ms, asked); }));
  return fits && asked.empty() && !ended();
}

// Applies one stored row. Returns false if the plan did not ask for this task, or asks for one
// twice: then another build wrote the rows.
bool Job::ReplayRow(const TaskRow& row, int64_t unix_ms, absl::flat_hash_set<TaskKey>& asked) {
  if (ended() || TaskIndex(row.id) != tasks_.size() + 1 || asked.erase(row.key) == 0) return false;
  tasks_.push_back({.key = row.key,
                    .attempts = static_cast<uint16_t>(row.attempts),
                    .state = TaskState::kReady,
                    .crashes = row.crashes,
                    .token = row.token});
  ready_times_.Add(unix_ms);
  if (row.crashes > 0) ++suspects_;
  const auto index = static_cast<uint32_t>(tasks_.size());
  Task& task = tasks_.back();
  GetProgress(task).set_total(GetProgress(task).total() + 1);
  SetState(index, row.state);
  const bool open = row.state == TaskState::kReady || row.state == TaskState::kLeased;
  if (open && !row.error.ok()) NoteError(index, row.error);
  std::vector<TaskKey> next;
  // LEASED tasks are in no queue. Dispatcher::RestoreLeases gives their workers one time to live to
  // report.
  if (row.state == TaskState::kReady) {
    Push(index);
  } else if (row.state == TaskState::kDone) {
    absl::StatusOr<std::vector<TaskKey>> after = plan_.Succeed(row.key, row.result);
    if (!after.ok()) return false;
    next = *std::move(after);
    if (row.cached) GetProgress(task).set_cached(GetProgress(task).cached() + 1);
  } else if (row.state == TaskState::kFailed) {
    next = plan_.Fail(row.key, row.error);
  } else if (row.state == TaskState::kSplit) {
    next = plan_.Split(row.key);
    if (next.empty()) return false;
  }
  for (const TaskKey& key : next) {
    if (!asked.insert(key).second) return false;
  }
  return true;
}

std::vector<uint32_t> Job::LeasedTasks() const {
  std::vector<uint32_t> leased;
  for (uint32_t index = 1; index <= tasks_.size(); ++index) {
    if (tasks_[index - 1].state == TaskState::kLeased) leased.push_back(index);
  }
  return leased;
}

// Returns the status without counters and failures, which may be large.
v1::JobStatus Job::Summary() const {
  v1::JobStatus status = base_;
  status.set_state(plan_.state());
  status.set_failure_count(plan_.failure_count());
  for (const v1::StageProgress& progress : progress_) *status.add_stages() = progress;
  if (ended()) return status;
  for (const auto& [index, waits_for] : waiting_) {
    AddTroubled(index, absl::StrCat(kWaitsFor, waits_for), status);
  }
  return status;
}

void Job::AddTroubled(uint32_t index, const std::string& error, v1::JobStatus& status) const {
  if (status.troubled_size() >= kMaxTroubledShown) return;
  const Task& task = tasks_[index - 1];
  v1::Troubled& troubled = *status.add_troubled();
  troubled.set_source(plan_.GetSourceName(task.key));
  troubled.set_stage(std::string(GetStageInfo(task.key.stage).name));
  troubled.set_attempts(task.attempts);
  troubled.set_last_error(ToUtf8(error));
}

v1::JobStatus Job::Status() const {
  v1::JobStatus status = Summary();
  plan_.FillStatus(status);
  if (ended()) return status;
  for (const auto& [index, error] : errors_) {
    if (waiting_.count(index) == 0) AddTroubled(index, error.ToString(), status);
  }
  return status;
}

// Moves the final status, all failures and the lock (the spec with pinned sources) out of the job.
// The job must not be used afterwards, except for its ids.
EndedJob Job::TakeEnd() {
  EndedJob end;
  end.sequence = sequence_;
  end.status = Status();
  end.failures = plan_.TakeFailures();
  end.lock = SplitSpec(plan_.Spec());
  return end;
}

}  // namespace kernelmill::coordinator
