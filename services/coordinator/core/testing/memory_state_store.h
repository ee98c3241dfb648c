#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_TESTING_MEMORY_STATE_STORE_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_TESTING_MEMORY_STATE_STORE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "services/coordinator/core/state/clock.h"
#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {

// A StateStore in memory, for tests, that can lose unsynced writes and fail. Thread-safe.
class MemoryStateStore : public StateStore {
 public:
  absl::Status Write(const std::vector<Change>& changes, bool sync) override;
  absl::StatusOr<std::vector<JobRow>> Jobs() override;
  absl::StatusOr<uint32_t> LastSequence() override;
  absl::Status ForEachTask(uint32_t job, absl::FunctionRef<bool(const TaskRow&)> visit) override;
  absl::Status ForEachSpan(uint64_t first_task,
                           absl::FunctionRef<bool(const v1::TaskSpan&)> visit) override;
  absl::StatusOr<v1::JobSpec> Spec(uint32_t job) override;
  absl::StatusOr<v1::JobStatus> Status(uint32_t job) override;
  absl::StatusOr<std::vector<TaskFailure>> Failures(uint32_t job, const TaskKey* after,
                                                    size_t limit) override;
  absl::Status ForEachLockPart(uint32_t job,
                               absl::FunctionRef<bool(const v1::JobSpec&)> visit) override;
  absl::StatusOr<TaskRow> Task(uint64_t id) override;
  absl::StatusOr<PinRecord> LastPin(const std::string& git, const std::string& ref) override;

  // Makes every later write fail with `error` and store nothing.
  void FailWrites(const absl::Status& error);
  // Simulates a loss of power: drops everything written after the last synced write.
  void LosePower();

 private:
  struct State {
    std::map<uint32_t, JobRow> jobs;
    std::map<uint32_t, EndedJob> ended;
    std::map<uint64_t, TaskRow> tasks;
    std::map<std::pair<std::string, std::string>, PinRecord> pins;  // by git, ref
    std::map<std::pair<uint64_t, int32_t>, v1::TaskSpan> spans;     // by task, attempt
    uint32_t last_sequence = 0;

    void EraseTasks(uint32_t job);
  };
  absl::Mutex mutex_;
  State now_ ABSL_GUARDED_BY(mutex_);
  State synced_ ABSL_GUARDED_BY(mutex_);
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
};

// A clock that only moves when a test advances it. Not thread-safe.
class FakeClock : public Clock {
 public:
  Time Now() const override { return now_; }
  absl::Time WallNow() const override { return wall_; }
  void Advance(Duration by) {
    now_ += by;
    wall_ += absl::FromChrono(by);
  }
  void SetWall(absl::Time to) { wall_ = to; }

 private:
  Time now_{std::chrono::hours(1)};
  absl::Time wall_ = absl::FromUnixSeconds(1'700'000'000);
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_TESTING_MEMORY_STATE_STORE_H_
