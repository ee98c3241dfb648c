#ifndef KERNELMILL_SERVICES_COORDINATOR_SERVER_CRAWL_SERVICE_H_
#define KERNELMILL_SERVICES_COORDINATOR_SERVER_CRAWL_SERVICE_H_

#include "common/access/caller_limits.h"
#include "common/rpc/limited_calls.h"
#include "kernelmill/v1/crawl.grpc.pb.h"
#include "services/coordinator/core/scheduler.h"
#include "services/coordinator/server/coordinator_limits.h"

namespace kernelmill::coordinator {

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

#endif  // KERNELMILL_SERVICES_COORDINATOR_SERVER_CRAWL_SERVICE_H_
