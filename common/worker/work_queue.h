#ifndef KERNELMILL_COMMON_WORKER_WORK_QUEUE_H_
#define KERNELMILL_COMMON_WORKER_WORK_QUEUE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernelmill/v1/work.grpc.pb.h"

namespace grpc {
class Channel;
}

namespace kernelmill::worker {

// The coordinator, as a worker sees it (see the Work service). Every call is one try, with a
// deadline. Implementations are thread-safe.
class WorkQueue {
 public:
  virtual ~WorkQueue() = default;
  virtual absl::StatusOr<v1::LeaseResponse> Lease(const v1::LeaseRequest& request) = 0;
  virtual absl::StatusOr<v1::RenewResponse> Renew(const v1::RenewRequest& request) = 0;
  virtual absl::StatusOr<v1::CompleteResponse> Complete(const v1::CompleteRequest& request) = 0;
  // Ends the calls in flight, and every later one at once, with CANCELLED.
  virtual void Cancel() = 0;
};

std::unique_ptr<WorkQueue> NewGrpcWorkQueue(std::shared_ptr<grpc::Channel> channel);
std::unique_ptr<WorkQueue> NewGrpcWorkQueue(std::unique_ptr<v1::Work::StubInterface> stub);

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_WORK_QUEUE_H_
