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

// Since when each task of a job could have been leased, by the wall clock: for timelines alone, and
// apart from the tasks, of which a job may have millions. Four bytes a task, counted from the first
// one's; what lies before that or 49 days after it is that bound. Not thread-safe.
class ReadyTimes {
 public:
  // Of the next task.
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

// The tasks of one job that wait for a worker, by stage; the earliest created goes first, so that a
// task which comes back keeps its place. Tasks that must run alone wait apart. Four bytes a task.
// Not thread-safe.
class ReadyQueue {
 public:
  void Push(StageId stage, uint32_t index, bool alone) {
    (alone ? alone_ : shared_)[static_cast<int>(stage)].push(index);
  }

  // Keeps the task back until `when`.
  void PushLater(StageId stage, uint32_t index, bool alone, Clock::Time when) {
    later_.insert({when, {stage, index, alone}});
    ++later_count_[static_cast<size_t>(stage)];
  }

  // Moves the tasks whose time has come, and returns them.
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

  // The earliest task of one of the stages, of those that may run beside others.
  std::optional<uint32_t> Pop(const StageSet& stages) { return PopFrom(shared_, stages); }
  // Likewise, of those that must run alone.
  std::optional<uint32_t> PopAlone(const StageSet& stages) { return PopFrom(alone_, stages); }
  bool HasAlone(const StageSet& stages) const { return Any(alone_, stages); }
  bool HasShared(const StageSet& stages) const { return Any(shared_, stages); }
  int64_t Count(StageId stage) const {
    const auto i = static_cast<int>(stage);
    return static_cast<int64_t>(shared_[i].size() + alone_[i].size());
  }
  // Those that are kept back.
  int64_t LaterCount(StageId stage) const { return later_count_[static_cast<size_t>(stage)]; }
  // The earliest of the stage's, of both kinds, 0 for none: at most two.
  std::array<uint32_t, 2> Heads(StageId stage) const {
    const auto i = static_cast<size_t>(stage);
    return {shared_[i].empty() ? 0 : shared_[i].top(), alone_[i].empty() ? 0 : alone_[i].top()};
  }

 private:
  using Heap = std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<uint32_t>>;
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

// The stage versions and compilers that this build plans with. A job that another build planned is
// planned anew; the action cache then answers for the stages that did not change.
std::string PlanFingerprint();

// One running job: its plan, its tasks and their states. Every change is also added to the `change`
// that the caller hands in, to be kept. Not thread-safe.
class Job {
 public:
  // `base` has job, name and submitted_unix_ms.
  Job(uint32_t sequence, v1::JobStatus base, v1::JobSpec spec);

  // Creates the first tasks.
  void Start(Change& change);
  // Rebuilds the job from the rows that `rows` passes, in the order of their ids. False: they do
  // not fit this plan, and the job must be started anew in a new object. No row is changed. What is
  // ready counts as ready since `unix_ms`.
  using RowVisitor = absl::FunctionRef<bool(const TaskRow&)>;
  absl::StatusOr<bool> Replay(absl::FunctionRef<absl::Status(RowVisitor)> rows, int64_t unix_ms);

  // The earliest ready task of one of the stages, to be leased with Leased() or given back with
  // Requeue(). PopAlone: of those that must run alone.
  std::optional<uint32_t> PopReady(const StageSet& stages) { return ready_.Pop(stages); }
  std::optional<uint32_t> PopAlone(const StageSet& stages) { return ready_.PopAlone(stages); }
  bool HasAlone(const StageSet& stages) const { return ready_.HasAlone(stages); }
  bool HasShared(const StageSet& stages) const { return ready_.HasShared(stages); }
  // Tasks of the stage that PopReady and PopAlone could give.
  int64_t ReadyCount(StageId stage) const { return ready_.Count(stage); }
  // Adds the stage's tasks by state; those that are open and neither ready, leased nor kept back
  // wait for what the job does not know of.
  void AddTo(StageId stage, StageTasks& tasks) const;
  // Tasks that must run alone and have not ended.
  int64_t suspects() const { return suspects_; }
  void Requeue(uint32_t index);

  void Leased(uint32_t index, uint64_t token, Change& change);
  // What the leased task waits for, as its worker says; empty: nothing. Returns whether that is
  // news. Forgotten with the lease, and with the process.
  bool SetWaiting(uint32_t index, const std::string& waits_for);
  // Back to ready: at once, the attempt not counted.
  void HandedBack(uint32_t index, Change& change);
  // The attempt ended without a result; `token` is that of the completion, 0 if there was none.
  // Ready again at `retry_at`. `crashed`: its worker ended with it, `alone` or not.
  enum class Crash { kNone, kInCompany, kAlone };
  void AttemptLost(uint32_t index, uint64_t token, const absl::Status& error, Crash crash,
                   Clock::Time retry_at, Change& change);
  // INVALID_ARGUMENT: the result is not what the stage promises; nothing has changed.
  absl::Status Succeeded(uint32_t index, const v1::StageResult& result, bool cached,
                         Change& change);
  void Failed(uint32_t index, uint64_t token, const absl::Status& error, Change& change);
  // Puts the halves of its sub-shard in the task's place, each with `crashes` to begin with if it
  // can be split further. False: it cannot be split; nothing has changed.
  bool Split(uint32_t index, const absl::Status& error, uint8_t crashes, Change& change);
  // Ends the job. Its leases are the caller's to release.
  void Cancel();
  // Readies the tasks whose pause is over; returns whether there were any.
  bool Promote(Clock::Time now, int64_t unix_ms);

  struct Task {
    TaskKey key;
    uint16_t attempts = 0;  // stays at the largest number
    TaskState state = TaskState::kReady;
    uint8_t crashes = 0;  // as TaskRow's
    uint64_t token = 0;   // as TaskRow's
  };
  // Null: no such task.
  const Task* Find(uint32_t index) const;
  v1::Action ActionOf(uint32_t index) const { return plan_.ActionFor(tasks_[index - 1].key); }
  // The source that the task pins; nothing if it is no pin.
  std::optional<v1::Source> SourceToPin(uint32_t index) const;
  v1::Source SourceOf(const TaskKey& task) const { return plan_.SourceAt(task.source); }
  // As reports name its source; empty: of the whole job.
  std::string SourceNameOf(uint32_t index) const {
    return plan_.SourceNameOf(tasks_[index - 1].key);
  }
  // How many files an extraction has.
  int32_t ItemCountOf(uint32_t index) const { return plan_.ItemCountOf(tasks_[index - 1].key); }
  // Since when the task could have been leased, by the wall clock.
  int64_t ReadyAt(uint32_t index) const { return ready_times_.Get(index); }
  // The tasks that hold a lease, for a restart.
  std::vector<uint32_t> LeasedTasks() const;
  const std::array<v1::StageProgress, kStageCount>& progress() const { return progress_; }
  size_t task_count() const { return tasks_.size(); }
  int leased() const { return leased_; }
  int32_t priority() const { return base_.priority(); }
  // Its tasks are run anew, whatever the action cache has.
  bool no_cache() const { return base_.no_cache(); }
  // How often the job was begun: 1, and 1 more with each retry.
  int32_t runs() const { return base_.runs(); }
  // All of the spec but its sources.
  const v1::JobSpec& settings() const { return plan_.settings(); }

  uint32_t sequence() const { return sequence_; }
  const std::string& id() const { return base_.job(); }
  int64_t submitted_unix_ms() const { return base_.submitted_unix_ms(); }
  bool ended() const { return plan_.state() != v1::JOB_STATE_RUNNING; }
  // Grows with every change.
  uint64_t version() const { return version_; }
  // With the first failures alone, and without the lock: cheap, however many sources there are.
  v1::JobStatus Status() const;
  // Without failures, counters and dataset; of troubled tasks those that wait.
  v1::JobStatus Summary() const;
  // As JobPlan has them.
  std::vector<TaskFailure> Failures(const TaskKey* after, size_t limit) const {
    return plan_.Failures(after, limit);
  }
  // How it ended; the job is of no further use.
  EndedJob TakeEnd();

 private:
  Task& At(uint32_t index) { return tasks_[index - 1]; }
  v1::StageProgress& ProgressOf(const Task& task) {
    return progress_[static_cast<int>(task.key.stage)];
  }
  TaskRow RowOf(uint32_t index) const;
  void Push(uint32_t index);
  void Create(const std::vector<TaskKey>& keys, uint8_t crashes, Change& change);
  // Takes up one row; adds the tasks that the plan asks for on account of it to `asked`.
  bool ReplayRow(const TaskRow& row, int64_t unix_ms, absl::flat_hash_set<TaskKey>& asked);
  void AddTroubled(uint32_t index, const std::string& error, v1::JobStatus& status) const;
  void NoteError(uint32_t index, const absl::Status& error);
  // Moves the task's count from its state to `state`. It waits for nothing any more.
  void SetState(uint32_t index, TaskState state);

  const uint32_t sequence_;
  const v1::JobStatus base_;
  JobPlan plan_;
  std::deque<Task> tasks_;  // by index - 1, in the order of their creation; 24 bytes each
  ReadyTimes ready_times_;
  // Why the last attempt failed, of tasks that are tried again; not of all where there are many.
  std::map<uint32_t, absl::Status> errors_;
  std::map<uint32_t, std::string> waiting_;  // leased tasks that wait: for what
  int leased_ = 0;
  int64_t suspects_ = 0;
  ReadyQueue ready_;
  std::array<v1::StageProgress, kStageCount> progress_;
  uint64_t version_ = 1;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_JOBS_JOB_H_
