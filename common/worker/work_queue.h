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

// Metadata of a renewal: what the tasks wait for, where they do. A coordinator that does not know
// it renews their leases all the same.
inline constexpr char kWaitsForMetadata[] = "kernelmill-waits-for-bin";

// The coordinator, as a worker sees it (see the Work service). Every call is one try, with a
// deadline. Implementations are thread-safe.
class WorkQueue {
 public:
  virtual ~WorkQueue() = default;
  virtual absl::StatusOr<v1::LeaseResponse> Lease(const v1::LeaseRequest& request) = 0;
  // `waits_for`: what keeps the tasks from going on, for people to read; empty: nothing does.
  virtual absl::StatusOr<v1::RenewResponse> Renew(const v1::RenewRequest& request,
                                                  const std::string& waits_for) = 0;
  virtual absl::StatusOr<v1::CompleteResponse> Complete(const v1::CompleteRequest& request) = 0;
  // Ends the calls in flight, and every later one at once, with CANCELLED.
  virtual void Cancel() = 0;
};

std::unique_ptr<WorkQueue> NewGrpcWorkQueue(std::shared_ptr<grpc::Channel> channel);
std::unique_ptr<WorkQueue> NewGrpcWorkQueue(std::unique_ptr<v1::Work::StubInterface> stub);

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_WORK_QUEUE_H_
