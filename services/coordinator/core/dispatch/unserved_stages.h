#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_UNSERVED_STAGES_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_UNSERVED_STAGES_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "kernelmill/v1/crawl.pb.h"
#include "services/coordinator/core/dispatch/worker_registry.h"
#include "services/coordinator/core/jobs/job.h"
#include "services/coordinator/core/plan/task.h"
#include "services/coordinator/core/state/clock.h"

namespace kernelmill::coordinator {

// The unserved stages: they have ready tasks, no leased task, and no connected worker that can run
// them. A stage is reported after a grace period, so that a starting cluster, or a restarted
// coordinator, causes no false alarms. Not thread-safe.
class UnservedStages {
 public:
  explicit UnservedStages(Clock::Duration grace) : grace_(grace) {}

  struct Queue {
    StageCounts ready{};
    StageCounts leased{};
  };
  // Updates the stages, and logs those that became unserved or served. Returns whether AddTo()'s
  // result changed.
  bool Update(const Queue& queue, const WorkerCensus& workers, Clock::Time now);
  // Adds the unserved stages in which the job has ready tasks.
  void AddTo(const Job& job, v1::JobStatus& status) const;
  bool IsUnserved(StageId stage) const { return stages_[static_cast<int>(stage)].said; }
  // Increases with every change of AddTo()'s result.
  uint64_t version() const { return version_; }

 private:
  struct Stage {
    std::optional<Clock::Time> since;
    bool said = false;                  // reported
    std::map<int32_t, int64_t> others;  // connected workers of other versions, by version
  };

  const Clock::Duration grace_;
  std::array<Stage, kStageCount> stages_;
  uint64_t version_ = 0;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_UNSERVED_STAGES_H_
