#include "services/coordinator/core/dispatch/worker_census.h"

#include <set>

namespace kernelmill::coordinator {

WorkerCensus CountWorkers(const WorkerRegistry& workers, const LeaseTable& leases,
                          Clock::Time since) {
  std::set<WorkerId> busy;
  for (const auto& [task, lease] : leases.leases()) busy.insert(lease.terms.holder());
  WorkerCensus census;
  for (const auto& [id, worker] : workers.entries()) {
    const bool connected = worker.heard >= since;
    const bool holds = connected && busy.count(id) > 0;
    for (int i = 0; i < kStageCount; ++i) {
      const int32_t version = worker.facts.stages[i];
      if (version == 0) continue;
      const bool same = version == StageInfoOf(static_cast<StageId>(i)).version;
      StageWorkers::Group& group = same ? census[i].same : census[i].other;
      ++(!connected ? group.silent : holds ? group.busy : group.idle);
      if (connected) group.slots += worker.facts.slots;
      if (connected && !same) ++census[i].others[version];
    }
  }
  return census;
}

}  // namespace kernelmill::coordinator
