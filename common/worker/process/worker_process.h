#ifndef KERNELMILL_COMMON_WORKER_PROCESS_WORKER_PROCESS_H_
#define KERNELMILL_COMMON_WORKER_PROCESS_WORKER_PROCESS_H_

#include <memory>
#include <vector>

#include "common/config/server_flags.h"
#include "common/worker/stage.h"

namespace grpc {
class Service;
}

namespace kernelmill::worker {

// What the main() of every worker does once its flags are read: serves health, `extra_services` and
// metrics, leases tasks of the stages and runs them until SIGTERM or SIGINT, then drains. Returns
// the exit status: 0, or 1 if an address cannot be bound. Call it before any other thread starts.
int RunWorkerProcess(const config::ServerFlags& server_flags,
                     const config::WorkerFlags& worker_flags,
                     std::vector<std::unique_ptr<Stage>> stages,
                     std::vector<grpc::Service*> extra_services);

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_PROCESS_WORKER_PROCESS_H_
