#ifndef KERNELMILL_COMMON_WORKER_PROCESS_WORKER_PROCESS_H_
#define KERNELMILL_COMMON_WORKER_PROCESS_WORKER_PROCESS_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/cas/blob_store.h"
#include "common/flags/server_flags.h"
#include "common/worker/stage.h"

namespace grpc {
class Service;
}

namespace grpc {
class Channel;
}

namespace kernelmill::worker {

// Makes the gRPC service that a worker serves besides its stages, on the same store. May be empty.
using MakeService = std::function<std::unique_ptr<grpc::Service>(cas::BlobStore& store)>;

// Runs a worker process, after its flags are parsed: serves health, its service and metrics, and
// runs tasks of the stages until SIGTERM or SIGINT, then drains. Returns the exit status
// (ServerExitStatus). Call it before any other thread starts.
int RunWorkerProcess(const flags::ServerFlags& server_flags, const flags::WorkerFlags& worker_flags,
                     const std::vector<std::unique_ptr<Stage>>& stages,
                     const MakeService& make_service);

// Checks that the two channels lead to a coordinator and a content store. With wrong addresses a
// worker would wait forever, or fail every task that it leases. OK if a server is unreachable for
// `patience`, since that may pass. UNIMPLEMENTED, FAILED_PRECONDITION: it is a different server.
absl::Status CheckPeers(const std::shared_ptr<grpc::Channel>& coordinator,
                        const std::shared_ptr<grpc::Channel>& store, absl::Duration patience);

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_PROCESS_WORKER_PROCESS_H_
