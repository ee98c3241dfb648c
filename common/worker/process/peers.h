#ifndef KERNELMILL_COMMON_WORKER_PROCESS_PEERS_H_
#define KERNELMILL_COMMON_WORKER_PROCESS_PEERS_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace grpc {
class Channel;
}

namespace kernelmill::worker {

// Whether a coordinator is at one address and a content store at the other. A worker that has them
// wrong would wait for ever, or spoil each task that it leases. OK where they cannot be reached
// within `patience` each: that passes. UNIMPLEMENTED, FAILED_PRECONDITION: another server is there.
absl::Status CheckPeers(const std::shared_ptr<grpc::Channel>& coordinator,
                        const std::shared_ptr<grpc::Channel>& store, absl::Duration patience);

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_PROCESS_PEERS_H_
