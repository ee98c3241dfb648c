#ifndef KERNELMILL_COMMON_WORKER_PROCESS_WORKER_PROCESS_H_
#define KERNELMILL_COMMON_WORKER_PROCESS_WORKER_PROCESS_H_

#include <functional>
#include <memory>
#include <vector>

#include "common/cas/blob_store.h"
#include "common/flags/server_flags.h"
#include "common/worker/stage.h"

namespace grpc {
class Service;
}

namespace kernelmill::worker {

// Makes what a worker serves beside its stages, on the store that these use too; may be empty.
using MakeService = std::function<std::unique_ptr<grpc::Service>(cas::BlobStore& store)>;

// What the main() of every worker does once its flags are read: serves health, its service and
// metrics, leases tasks of the stages and runs them until SIGTERM or SIGINT, then drains. Returns
// the exit status (ServerExitStatus). Call it before any other thread starts.
int RunWorkerProcess(const flags::ServerFlags& server_flags, const flags::WorkerFlags& worker_flags,
                     std::vector<std::unique_ptr<Stage>> stages, const MakeService& make_service);

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_PROCESS_WORKER_PROCESS_H_
