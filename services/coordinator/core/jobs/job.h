#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_JOB_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_JOB_H_

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/crawl.pb.h"
#include "services/coordinator/core/jobs/queue_stats.h"
#include "services/coordinator/core/plan/plan.h"
#include "services/coordinator/core/plan/task.h"
#include "services/coordinator/core/state/clock.h"
#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {

// When each task of a job became ready, by the wall clock; only for timelines. It is separate from
// the tasks because a job may have millions: four bytes per task, milliseconds since the first
// task. Times before that, or more than 49 days later, become that bound. Not thread-safe.
class ReadyTimes {
 public:
  // Adds the time at which the next task becomes ready.
  void Add(int64_t unix_ms) {
    if (after_ms_.empty()) first_unix_ms_ = unix_ms;
    after_ms_.push_back(AfterFirst(unix_ms));
  }
  // `index`: from 1, as tasks are counted.
  void Set(uint32_t index, int64_t unix_ms) { after_ms_[index - 1] = AfterFirst(unix_ms); }
  int64_t Get(uint32_t index) const { return first_unix_ms_ + after_ms_[index - 1]; }

 private:
  uint32_t AfterFirst(int64_t unix_ms) const {
    constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
    return static_cast<uint32_t>(std::clamp<int64_t>(unix_ms - first_unix_ms_, 0, kMost));
  }

  int64_t first_unix_ms_ = 0;
  std::deque<uint32_t> after_ms_;
};

using StageSet = std::bitset<kStageCount>;

// The ready tasks of one job, by stage. The earliest created task comes first, so that a requeued
// task keeps its place. Tasks that must run alone have their own queues. Four bytes per task. Not
// thread-safe.
class ReadyQueue {
 public:
  void Push(StageId stage, uint32_t index, bool alone) {
    (alone ? alone_ : shared_)[static_cast<int>(stage)].push(index);
  }

  // Adds a task that becomes ready at `when`.
  void PushLater(StageId stage, uint32_t index, bool alone, Clock::Time when) {
    later_.insert({when, {stage, index, alone}});
    ++later_count_[static_cast<size_t>(stage)];
  }

  // Makes the tasks ready whose time has come, and returns them.
  std::vector<uint32_t> Promote(Clock::Time now) {
    std::vector<uint32_t> promoted;
    while (!later_.empty() && later_.begin()->first <= now) {
      const auto [stage, index, alone] = later_.begin()->second;
      Push(stage, index, alone);
      --later_count_[static_cast<size_t>(stage)];
      later_.erase(later_.begin());
      promoted.push_back(index);
    }
    return promoted;
  }

  // Removes and returns the earliest task of these stages that may run beside others.
  std::optional<uint32_t> Pop(const StageSet& stages) { return PopFrom(shared_, stages); }
  // Removes and returns the earliest task of these stages that must run alone.
  std::optional<uint32_t> PopAlone(const StageSet& stages) { return PopFrom(alone_, stages); }
  bool HasAlone(const StageSet& stages) const { return Any(alone_, stages); }
  bool HasShared(const StageSet& stages) const { return Any(shared_, stages); }
  int64_t Count(StageId stage) const {
    const auto i = static_cast<int>(stage);
    return static_cast<int64_t>(shared_[i].size() + alone_[i].size());
  }
  // Returns the number of tasks that are not ready yet.
  int64_t LaterCount(StageId stage) const { return later_count_[static_cast<size_t>(stage)]; }
  // Returns the earliest task of the stage of both kinds, or 0.
  std::array<uint32_t, 2> Heads(StageId stage) const {
    const auto i = static_cast<size_t>(stage);
    return {shared_[i].empty() ? 0 : shared_[i].top(), alone_[i].empty() ? 0 : alone_[i].top()};
  }

 private:
  using Heap = std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>>;
  using Heaps = std::array<Heap, kStageCount>;

  static bool Any(const Heaps& heaps, const StageSet& stages) {
    for (int i = 0; i < kStageCount; ++i) {
      if (stages[i] && !heaps[i].empty()) return true;
    }
    return false;
  }

  static std::optional<uint32_t> PopFrom(Heaps& heaps, const StageSet& stages) {
    Heap* best = nullptr;
    for (int i = 0; i < kStageCount; ++i) {
      Heap& heap = heaps[i];
      if (stages[i] && !heap.empty() && (best == nullptr || heap.top() < best->top())) best = &heap;
    }
    if (best == nullptr) return std::nullopt;
    const uint32_t index = best->top();
    best->pop();
    return index;
  }

  Heaps shared_, alone_;
  std::set<std::pair<Clock::Time, std::tuple<StageId, uint32_t, bool>>> later_;
  std::array<int64_t, kStageCount> later_count_{};
};

// Returns the stage versions and compilers of this build, as text. A job that was planned with
// another fingerprint is planned again; the action cache answers for the unchanged stages.
std::string PlanFingerprint();

// One running job: its plan, its tasks and their states. JobTable owns it. Every change is also
// added to the caller's `change`, which is then stored. Not thread-safe.
class Job {
 public:
  // `base` must have job, name and submitted_unix_ms.
  Job(uint32_t sequence, v1::JobStatus base, v1::JobSpec spec);

  // Creates the first tasks.
  void Start(Change& change);
  // Rebuilds the job from its rows, which `rows` passes in the order of their ids. Returns false if
  // they do not fit this plan; the caller must then start the job in a new object. Changes no row.
  // Ready tasks count as ready since `unix_ms`.
  using RowVisitor = absl::FunctionRef<bool(const TaskRow&)>;
  absl::StatusOr<bool> Replay(absl::FunctionRef<absl::Status(RowVisitor)> rows, int64_t unix_ms);

  // Remove and return the earliest ready task of these stages; PopAlone: of those that must run
  // alone. The caller must call Leased() or Requeue() for it.
  std::optional<uint32_t> PopReady(const StageSet& stages) { return ready_.Pop(stages); }
  std::optional<uint32_t> PopAlone(const StageSet& stages) { return ready_.PopAlone(stages); }
  bool HasAlone(const StageSet& stages) const { return ready_.HasAlone(stages); }
  bool HasShared(const StageSet& stages) const { return ready_.HasShared(stages); }
  // Returns the number of tasks of the stage that PopReady and PopAlone can return.
  int64_t ReadyCount(StageId stage) const { return ready_.Count(stage); }
  // Adds the stage's tasks by state. Open tasks in none of these states wait in the Dispatcher, for
  // a host or an equal task.
  void AddTo(StageId stage, StageTasks& tasks) const;
  // The number of unfinished tasks that must run alone.
  int64_t suspects() const { return suspects_; }
  void Requeue(uint32_t index);

  void Leased(uint32_t index, uint64_t token, Change& change);
  // Notes what the leased task waits for, as its worker says; empty: nothing. Returns whether this
  // is a change. It is forgotten with the lease and not stored.
  bool SetWaiting(uint32_t index, const std::string& waits_for);
  // Makes the task ready again at once. The attempt does not count.
  void HandedBack(uint32_t index, Change& change);
  // Tells whether the worker crashed, and whether it was running other tasks too.
  enum class Crash { kNone, kInCompany, kAlone };
  // An attempt that ended without a result.
  struct LostAttempt {
    uint64_t token = 0;  // of the completion, or 0
    absl::Status error;
    Crash crash = Crash::kNone;
    Clock::Time retry_at;  // when the task is ready again
  };
  void AttemptLost(uint32_t index, const LostAttempt& attempt, Change& change);
  // Takes the task's result. INVALID_ARGUMENT: the result is not what the stage promises; nothing
  // has changed.
  absl::Status Succeeded(uint32_t index, const v1::StageResult& result, bool cached,
                         Change& change);
  void Failed(uint32_t index, uint64_t token, const absl::Status& error, Change& change);
  // Replaces the task by the halves of its sub-shard; a half that can be split further starts with
  // `crashes`. Returns false if the task cannot be split; nothing has changed.
  bool Split(uint32_t index, const absl::Status& error, uint8_t crashes, Change& change);
  // Ends the job. The caller must release its leases.
  void Cancel();
  // Makes the tasks ready whose pause is over. Returns whether there were any.
  bool Promote(Clock::Time now, int64_t unix_ms);

  struct Task {
    TaskKey key;
    uint16_t attempts = 0;  // stays at the largest number
    TaskState state = TaskState::kReady;
    uint8_t crashes = 0;  // as TaskRow's
    uint64_t token = 0;   // as TaskRow's
  };
  // Finds a task; null if it does not exist.
  const Task* Find(uint32_t index) const;
  v1::Action MakeAction(uint32_t index) const { return plan_.ActionFor(tasks_[index - 1].key); }
  // Returns the source that the task pins; nothing if it is not a pin task.
  std::optional<v1::Source> SourceToPin(uint32_t index) const;
  v1::Source GetSource(const TaskKey& task) const { return plan_.SourceAt(task.source); }
  // Returns the name of the task's source in reports; empty for job-wide tasks.
  std::string GetSourceName(uint32_t index) const {
    return plan_.GetSourceName(tasks_[index - 1].key);
  }
  // Returns how many files or kernels the task works on.
  int32_t CountItems(uint32_t index) const { return plan_.CountItems(tasks_[index - 1].key); }
  // Returns when the task became ready, by the wall clock.
  int64_t ReadyAt(uint32_t index) const { return ready_times_.Get(index); }
  // Returns the leased tasks.
  std::vector<uint32_t> LeasedTasks() const;
  const std::array<v1::StageProgress, kStageCount>& progress() const { return progress_; }
  size_t task_count() const { return tasks_.size(); }
  int leased() const { return leased_; }
  int32_t priority() const { return base_.priority(); }
  const std::string& owner() const { return base_.owner(); }
  // True if tasks run without looking in the action cache.
  bool no_cache() const { return base_.no_cache(); }
  // How often the job was started: 1, plus 1 for each retry.
  int32_t runs() const { return base_.runs(); }
  // The spec without its sources.
  const v1::JobSpec& settings() const { return plan_.settings(); }

  uint32_t sequence() const { return sequence_; }
  const std::string& id() const { return base_.job(); }
  int64_t submitted_unix_ms() const { return base_.submitted_unix_ms(); }
  bool ended() const { return plan_.state() != v1::JOB_STATE_RUNNING; }
  // Increases with every change.
  uint64_t version() const { return version_; }
  // Returns the status, with the first failures only and without the lock, so that it is small.
  v1::JobStatus Status() const;
  // Returns the status without failures, counters and dataset; its troubled tasks are only the
  // waiting ones.
  v1::JobStatus Summary() const;
  // Returns failures; see JobPlan::Failures.
  std::vector<TaskFailure> Failures(const TaskKey* after, size_t limit) const {
    return plan_.Failures(after, limit);
  }
  // Returns the end of the job; the object is unusable afterwards.
  EndedJob TakeEnd();

 private:
  Task& At(uint32_t index) { return tasks_[index - 1]; }
  v1::StageProgress& GetProgress(const Task& task) {
    return progress_[static_cast<int>(task.key.stage)];
  }
  TaskRow MakeRow(uint32_t index) const;
  void Push(uint32_t index);
  void Create(const std::vector<TaskKey>& keys, uint8_t crashes, Change& change);
  // Takes one row, and adds the tasks that the plan asks for because of it to `asked`.
  bool ReplayRow(const TaskRow& row, int64_t unix_ms, absl::flat_hash_set<TaskKey>& asked);
  void AddTroubled(uint32_t index, const std::string& error, v1::JobStatus& status) const;
  void NoteError(uint32_t index, const absl::Status& error);
  // Changes the task's state and the counts by state. The task no longer waits.
  void SetState(uint32_t index, TaskState state);

  const uint32_t sequence_;
  const v1::JobStatus base_;
  JobPlan plan_;
  std::deque<Task> tasks_;  // by index - 1, in the order of creation; 24 bytes each
  ReadyTimes ready_times_;
  // The last error of tasks that are retried; at most kMaxErrors of them.
  std::map<uint32_t, absl::Status> errors_;
  std::map<uint32_t, std::string> waiting_;  // the reason why a leased task waits
  int leased_ = 0;
  int64_t suspects_ = 0;
  ReadyQueue ready_;
  std::array<v1::StageProgress, kStageCount> progress_;
  uint64_t version_ = 1;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_JOB_H_
