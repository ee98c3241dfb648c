#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_WORKER_CENSUS_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_WORKER_CENSUS_H_

#include <array>
#include <cstdint>
#include <map>

#include "services/coordinator/core/dispatch/lease_table.h"
#include "services/coordinator/core/dispatch/worker_registry.h"
#include "services/coordinator/core/plan/task.h"
#include "services/coordinator/core/state/clock.h"

namespace kernelmill::coordinator {

using StageCounts = std::array<int64_t, kStageCount>;  // by StageId

// Workers that can run one stage. A worker is connected if it was heard of lately; it is silent if
// that was a while ago.
struct StageWorkers {
  struct Group {
    int64_t idle = 0;  // connected, and holds no task
    int64_t busy = 0;  // connected, and holds some, of whatever stage
    int64_t silent = 0;
    int64_t slots = 0;  // of those that are connected
    int64_t connected() const { return idle + busy; }
  };
  Group same;                         // of the stage's version that this build plans with
  Group other;                        // of other versions: they get none of its tasks
  std::map<int32_t, int64_t> others;  // connected workers of these, by version
};
using WorkerCensus = std::array<StageWorkers, kStageCount>;

// Counts the workers that were heard of; connected are those heard of after `since`.
WorkerCensus CountWorkers(const WorkerRegistry& workers, const LeaseTable& leases,
                          Clock::Time since);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_WORKER_CENSUS_H_
