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

// Why nothing moves: the stages that have ready tasks, of which none is leased, and no connected
// worker that could run them. Said after a grace, so that a cluster that starts, and workers that
// find a restarted coordinator again, do not cry. Not thread-safe.
class UnservedStages {
 public:
  explicit UnservedStages(Clock::Duration grace) : grace_(grace) {}

  struct Queue {
    StageCounts ready{};
    StageCounts leased{};
  };
  // Looks again; logs stages that are unserved from now on, or no longer. Returns whether what
  // AddTo() says has changed.
  bool Update(const Queue& queue, const WorkerCensus& workers, Clock::Time now);
  // Adds the unserved stages that the job has ready tasks of.
  void AddTo(const Job& job, v1::JobStatus& status) const;
  bool IsUnserved(StageId stage) const { return stages_[static_cast<int>(stage)].said; }
  // Grows with every change of what AddTo() says.
  uint64_t version() const { return version_; }

 private:
  struct Stage {
    std::optional<Clock::Time> since;
    bool said = false;
    std::map<int32_t, int64_t> others;  // connected workers, by version
  };

  const Clock::Duration grace_;
  std::array<Stage, kStageCount> stages_;
  uint64_t version_ = 0;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_UNSERVED_STAGES_H_
