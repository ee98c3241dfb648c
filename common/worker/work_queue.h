#ifndef KERNELMILL_COMMON_WORKER_WORK_QUEUE_H_
#define KERNELMILL_COMMON_WORKER_WORK_QUEUE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kernelmill/v1/work.grpc.pb.h"

namespace grpc {
class Channel;
}

namespace kernelmill::worker {

// The metadata key of a renewal that says what the tasks wait for. Coordinators that do not know it
// ignore it.
inline constexpr char kWaitsForMetadata[] = "kernelmill-waits-for-bin";

// The coordinator, as a worker sees it (see the Work service). Every call is a single try with a
// deadline. Implementations are thread-safe.
class WorkQueue {
 public:
  virtual ~WorkQueue() = default;
  virtual absl::StatusOr<v1::LeaseResponse> Lease(const v1::LeaseRequest& request) = 0;
  // `waits_for`: what the tasks wait for, as text for people; empty: nothing.
  virtual absl::StatusOr<v1::RenewResponse> Renew(const v1::RenewRequest& request,
                                                  const std::string& waits_for) = 0;
  virtual absl::StatusOr<v1::CompleteResponse> Complete(const v1::CompleteRequest& request) = 0;
  // Ends running calls and all later ones with CANCELLED.
  virtual void Cancel() = 0;
};

std::unique_ptr<WorkQueue> NewGrpcWorkQueue(std::shared_ptr<grpc::Channel> channel);
std::unique_ptr<WorkQueue> NewGrpcWorkQueue(std::unique_ptr<v1::Work::StubInterface> stub);

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_WORK_QUEUE_H_
