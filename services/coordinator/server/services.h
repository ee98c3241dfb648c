#ifndef KERNELMILL_SERVICES_COORDINATOR_SERVER_SERVICES_H_
#define KERNELMILL_SERVICES_COORDINATOR_SERVER_SERVICES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/access/caller_limits.h"
#include "common/access/grants.h"
#include "common/rocksdb/backups.h"
#include "common/rpc/limited_calls.h"
#include "kernelmill/v1/coordinator.grpc.pb.h"
#include "kernelmill/v1/crawl.grpc.pb.h"
#include "kernelmill/v1/work.grpc.pb.h"
#include "services/coordinator/core/scheduler.h"

namespace kernelmill::coordinator {

// The limits on the callers of a coordinator, for all together and for each. 0: no limit.
struct CoordinatorLimits {
  int64_t jobs = 1000;  // unfinished
  int64_t jobs_per_caller = 500;
  int64_t queued_bytes = int64_t{128} << 20;  // the size of these jobs' specs
  int64_t queued_bytes_per_caller = int64_t{64} << 20;
  // Each of these calls takes a thread. Their sum must stay below the 2560 threads of rpc::Server,
  // so that other calls are answered.
  int64_t waiting_leases = 1024;
  int64_t waiting_leases_per_caller = 512;
  int64_t watches = 512;
  int64_t watches_per_caller = 128;
  int64_t submits = 256;  // running calls
  int64_t submits_per_caller = 64;
  // Tasks of one owner's jobs that workers run at a time.
  int64_t running_tasks_per_caller = 0;

  // No limits, for a coordinator that only its own process calls.
  static CoordinatorLimits None() { return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}; }
};

// The Coordinator service over gRPC. `backups` must outlive it. Thread-safe.
class CoordinatorService final : public v1::Coordinator::Service {
 public:
  explicit CoordinatorService(Backups& backups) : backups_(backups) {}

  grpc::Status Backup(grpc::ServerContext* context, const v1::BackupRequest* request,
                      v1::BackupResponse* response) override;
  grpc::Status PruneBackups(grpc::ServerContext* context, const v1::PruneBackupsRequest* request,
                            v1::PruneBackupsResponse* response) override;
  grpc::Status ListBackups(grpc::ServerContext* context, const v1::ListBackupsRequest* request,
                           v1::ListBackupsResponse* response) override;

 private:
  Backups& backups_;
};

// The Work service over gRPC. `scheduler` must outlive it. Thread-safe.
class WorkService final : public v1::Work::Service {
 public:
  // `grants`: signs a grant for each leased task; null: tasks get no grants.
  WorkService(Scheduler& scheduler, const CoordinatorLimits& limits,
              std::shared_ptr<access::GrantKey> grants = nullptr);

  // RESOURCE_EXHAUSTED: no task is ready, and too many calls wait already.
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

// The Crawl service over gRPC. `scheduler` must outlive it. Thread-safe.
//
// With TLS, a client sees and uses only the jobs that it submitted, and an operator all. Calls that
// name another client's job fail with PERMISSION_DENIED. Without TLS callers are not known, and
// everybody may use every job.
class CrawlService final : public v1::Crawl::Service {
 public:
  CrawlService(Scheduler& scheduler, const CoordinatorLimits& limits);

  // RESOURCE_EXHAUSTED: too many watches. UNAVAILABLE: the coordinator is draining; watch again at
  // its successor.
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
  absl::Status CheckOwner(const grpc::ServerContext& context, const std::string& job) const;
  // Returns what `action` returns, or the error of CheckOwner.
  template <typename Action>
  auto IfOwner(const grpc::ServerContext& context, const std::string& job, Action action) const
      -> decltype(action());
  // As IfOwner, for calls that read. The audit log has only those that are refused: allowed ones
  // are too many.
  template <typename Action>
  auto ReadIfOwner(const grpc::ServerContext& context, absl::string_view call,
                   const std::string& job, Action action) const -> decltype(action());

  Scheduler& scheduler_;
  access::CallerLimits watches_;
  rpc::LimitedCalls submits_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_SERVER_SERVICES_H_
