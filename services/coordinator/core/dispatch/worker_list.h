#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_WORKER_LIST_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_WORKER_LIST_H_

#include <vector>

#include "kernelmill/v1/crawl.pb.h"
#include "services/coordinator/core/dispatch/lease_table.h"
#include "services/coordinator/core/dispatch/worker_registry.h"
#include "services/coordinator/core/jobs/job_table.h"
#include "services/coordinator/core/state/clock.h"

namespace kernelmill::coordinator {

// The workers heard of in the last quarter of an hour, by name, with the tasks that they hold:
// what ListWorkers answers. Bounded, so that the answer fits in a message: of very many workers
// those heard of last, and not all of their tasks.
std::vector<v1::WorkerInfo> ListWorkers(const WorkerRegistry& workers, const LeaseTable& leases,
                                        const JobTable& jobs, const Clock& clock);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_DISPATCH_WORKER_LIST_H_
