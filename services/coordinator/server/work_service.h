#ifndef KERNELMILL_SERVICES_COORDINATOR_SERVER_WORK_SERVICE_H_
#define KERNELMILL_SERVICES_COORDINATOR_SERVER_WORK_SERVICE_H_

#include <memory>
#include <string>

#include "common/access/caller_limits.h"
#include "common/access/grants.h"
#include "kernelmill/v1/work.grpc.pb.h"
#include "services/coordinator/core/scheduler.h"
#include "services/coordinator/server/coordinator_limits.h"

namespace kernelmill::coordinator {

// Work over gRPC. Thread-safe; `scheduler` must outlive it. With a key, a grant goes with each
// task, for the worker that it is leased to.
class WorkService final : public v1::Work::Service {
 public:
  // `grants` may be null: none are given.
  WorkService(Scheduler& scheduler, const CoordinatorLimits& limits,
              std::shared_ptr<access::GrantKey> grants = nullptr);

  // RESOURCE_EXHAUSTED: nothing is ready, and too many wait already.
  grpc::Status Lease(grpc::ServerContext* context, const v1::LeaseRequest* request,
                     v1::LeaseResponse* response) override;
  grpc::Status Renew(grpc::ServerContext* context, const v1::RenewRequest* request,
                     v1::RenewResponse* response) override;
  grpc::Status Complete(grpc::ServerContext* context, const v1::CompleteRequest* request,
                        v1::CompleteResponse* response) override;

 private:
  void AddGrant(const std::string& caller, v1::LeasedTask& task) const;

  Scheduler& scheduler_;
  access::CallerLimits waiting_;
  const std::shared_ptr<access::GrantKey> grants_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_SERVER_WORK_SERVICE_H_
