#ifndef KERNELMILL_SERVICES_COORDINATOR_SERVER_CRAWL_SERVICE_H_
#define KERNELMILL_SERVICES_COORDINATOR_SERVER_CRAWL_SERVICE_H_

#include "kernelmill/v1/crawl.grpc.pb.h"
#include "services/coordinator/core/scheduler.h"

namespace kernelmill::coordinator {

// Crawl over gRPC. Thread-safe; `scheduler` must outlive it.
class CrawlService final : public v1::Crawl::Service {
 public:
  explicit CrawlService(Scheduler& scheduler) : scheduler_(scheduler) {}

  grpc::Status Submit(grpc::ServerContext* context, const v1::SubmitRequest* request,
                      v1::SubmitResponse* response) override;
  // Ends with UNAVAILABLE when the coordinator drains: watch again, elsewhere.
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
  Scheduler& scheduler_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_SERVER_CRAWL_SERVICE_H_
