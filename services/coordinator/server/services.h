#ifndef KERNELMILL_SERVICES_COORDINATOR_SERVER_SERVICES_H_
#define KERNELMILL_SERVICES_COORDINATOR_SERVER_SERVICES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "common/access/caller_limits.h"
#include "common/access/grants.h"
#include "common/rpc/limited_calls.h"
#include "kernelmill/v1/crawl.grpc.pb.h"
#include "kernelmill/v1/work.grpc.pb.h"
#include "services/coordinator/core/scheduler.h"

namespace kernelmill::coordinator {

// What callers may have of a coordinator at a time, all of them and each. 0: no limit.
struct CoordinatorLimits {
  int64_t jobs = 1000;  // that have not ended
  int64_t jobs_per_caller = 500;
  int64_t queued_bytes = int64_t{128} << 20;  // of these jobs' specs
  int64_t queued_bytes_per_caller = int64_t{64} << 20;
  // Each of these takes a thread, of which rpc::Server has 2048: some must be left to answer
  // others.
  int64_t waiting_leases = 1024;
  int64_t waiting_leases_per_caller = 512;
  int64_t watches = 512;
  int64_t watches_per_caller = 128;
  int64_t submits = 256;  // calls, under way
  int64_t submits_per_caller = 64;

  // Of a coordinator that has no callers but its own process.
  static CoordinatorLimits None() { return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}; }
};

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

// Crawl over gRPC. Thread-safe; `scheduler` must outlive it.
class CrawlService final : public v1::Crawl::WithStreamedUnaryMethod_Submit<v1::Crawl::Service> {
 public:
  CrawlService(Scheduler& scheduler, const CoordinatorLimits& limits);

  // A few at a time, since a large job takes several times as much memory on its way in as it does
  // then.
  grpc::Status StreamedSubmit(
      grpc::ServerContext* context,
      grpc::ServerUnaryStreamer<v1::SubmitRequest, v1::SubmitResponse>* call) override;
  // RESOURCE_EXHAUSTED: too many are watching. Ends with UNAVAILABLE when the coordinator drains:
  // watch again, elsewhere.
  grpc::Status Watch(grpc::ServerContext* context, const v1::WatchRequest* request,
                     grpc::ServerWriter<v1::JobStatus>* writer) override;
  grpc::Status GetJob(grpc::ServerContext* context, const v1::GetJobRequest* request,
                      v1::JobStatus* response) override;
  grpc::Status ListJobs(grpc::ServerContext* context, const v1::ListJobsRequest* request,
                        v1::ListJobsResponse* response) override;

  grpc::Status Cancel(grpc::ServerContext* context, const v1::CancelRequest* request,
                      v1::JobStatus* response) override;
  grpc::Status Retry(grpc::ServerContext* context, const v1::RetryRequest* request,
                     v1::JobStatus* response) override;
  grpc::Status ListFailures(grpc::ServerContext* context, const v1::ListFailuresRequest* request,
                            v1::ListFailuresResponse* response) override;
  grpc::Status ReadLock(grpc::ServerContext* context, const v1::ReadLockRequest* request,
                        grpc::ServerWriter<v1::JobSpec>* writer) override;
  grpc::Status Delete(grpc::ServerContext* context, const v1::DeleteRequest* request,
                      v1::DeleteResponse* response) override;
  grpc::Status ListWorkers(grpc::ServerContext* context, const v1::ListWorkersRequest* request,
                           v1::ListWorkersResponse* response) override;
  grpc::Status Timeline(grpc::ServerContext* context, const v1::TimelineRequest* request,
                        grpc::ServerWriter<v1::TimelinePart>* writer) override;

 private:
  grpc::Status TakeJob(const grpc::ServerContext& context, v1::SubmitRequest& request,
                       v1::SubmitResponse* response);

  Scheduler& scheduler_;
  access::CallerLimits watches_;
  rpc::LimitedCalls submits_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_SERVER_SERVICES_H_
