#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_JOB_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_JOB_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/crawl.pb.h"
#include "services/coordinator/core/clock.h"
#include "services/coordinator/core/plan.h"
#include "services/coordinator/core/ready_queue.h"
#include "services/coordinator/core/state_store.h"
#include "services/coordinator/core/task.h"

namespace kernelmill::coordinator {

// The stage versions that this build plans with. A job that another build planned is planned anew;
// the action cache then answers for the stages that did not change.
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
  // not fit this plan, and the job must be started anew in a new object. No row is changed.
  using RowVisitor = absl::FunctionRef<bool(const TaskRow&)>;
  absl::StatusOr<bool> Replay(absl::FunctionRef<absl::Status(RowVisitor)> rows);

  // The earliest ready task of one of the stages, to be leased with Leased() or given back with
  // Requeue(). PopAlone: of those that must run alone.
  std::optional<uint32_t> PopReady(const StageSet& stages) { return ready_.Pop(stages); }
  std::optional<uint32_t> PopAlone(const StageSet& stages) { return ready_.PopAlone(stages); }
  bool HasAlone(const StageSet& stages) const { return ready_.HasAlone(stages); }
  bool HasShared(const StageSet& stages) const { return ready_.HasShared(stages); }
  void Requeue(uint32_t index);

  void Leased(uint32_t index, uint64_t token, Change& change);
  // Back to ready: at once, the attempt not counted.
  void HandedBack(uint32_t index, Change& change);
  // The attempt ended without a result; `token` is that of the completion, 0 if there was none.
  // Ready again at `retry_at`. `crashed`: its worker ended with it, `alone` or not.
  enum class Crash { kNone, kInCompany, kAlone };
  void AttemptLost(uint32_t index, uint64_t token, const absl::Status& error, Crash crash,
                   Clock::Time retry_at, Change& change);
  // A result that the plan refuses fails the task.
  void Succeeded(uint32_t index, const v1::StageResult& result, bool cached, Change& change);
  void Failed(uint32_t index, uint64_t token, const absl::Status& error, Change& change);
  // Puts pieces of its input in the task's place, each with `crashes` to begin with if it can be
  // taken apart further. False: it cannot be taken apart; nothing has changed.
  bool Split(uint32_t index, const absl::Status& error, uint8_t crashes, Change& change);
  // Ends the job. Its leases are the caller's to release.
  void Cancel();
  // Whether tasks became ready.
  bool Promote(Clock::Time now) { return ready_.Promote(now); }

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
  // The source that the task pins; null if it is no pin.
  const v1::Source* SourceToPin(uint32_t index) const;
  // How many files an extraction has.
  int32_t FilesOf(uint32_t index) const { return plan_.FilesOf(tasks_[index - 1].key); }
  // The host that the task calls on, of a task that fetches from one; else empty.
  std::string HostOf(uint32_t index) const;
  // The tasks that hold a lease, for a restart.
  std::vector<uint32_t> LeasedTasks() const;
  size_t task_count() const { return tasks_.size(); }
  int leased() const { return leased_; }
  int32_t priority() const { return base_.priority(); }
  // How often the job was begun: 1, and 1 more with each retry.
  int32_t runs() const { return base_.runs(); }
  const v1::JobSpec& spec() const { return plan_.spec(); }

  uint32_t sequence() const { return sequence_; }
  const std::string& id() const { return base_.job(); }
  bool ended() const { return plan_.state() != v1::JOB_STATE_RUNNING; }
  // Grows with every change.
  uint64_t version() const { return version_; }
  v1::JobStatus Status() const;
  // Without failures, troubled tasks, counters, dataset and lock.
  v1::JobStatus Summary() const;

 private:
  Task& At(uint32_t index) { return tasks_[index - 1]; }
  v1::StageProgress& ProgressOf(const Task& task) {
    return progress_[static_cast<int>(task.key.stage)];
  }
  TaskRow RowOf(uint32_t index) const;
  void Push(uint32_t index);
  void Create(const std::vector<TaskKey>& keys, uint8_t crashes, Change& change);
  // Takes up one row; adds the tasks that the plan asks for on account of it to `asked`.
  bool ReplayRow(const TaskRow& row, absl::flat_hash_set<TaskKey>& asked);
  void NoteError(uint32_t index, const absl::Status& error);
  // Moves the task's count from its state to `state`.
  void SetState(Task& task, TaskState state);

  const uint32_t sequence_;
  const v1::JobStatus base_;
  JobPlan plan_;
  std::deque<Task> tasks_;  // by index - 1, in the order of their creation; 24 bytes each
  // Why the last attempt failed, of tasks that are tried again; not of all where there are many.
  std::map<uint32_t, absl::Status> errors_;
  int leased_ = 0;
  ReadyQueue ready_;
  std::array<v1::StageProgress, kStageCount> progress_;
  uint64_t version_ = 1;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_JOB_H_
