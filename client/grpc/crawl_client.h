#ifndef KERNELMILL_CLIENT_GRPC_CRAWL_CLIENT_H_
#define KERNELMILL_CLIENT_GRPC_CRAWL_CLIENT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/console/timeline.h"
#include "client/console/watch.h"
#include "client/grpc/retrying_caller.h"
#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace grpc {
class Channel;
}

namespace kernelmill::client {

// The coordinator's Crawl service; abstract so that its users do not compile gRPC's generated code.
// Thread-safe. UNAVAILABLE: it is out of reach; CANCELLED: Interrupt() was called.
class CrawlClient {
 public:
  virtual ~CrawlClient() = default;

  // Answers the new job's name. The same request id again answers with the same job.
  // `no_cache`: every stage is run anew. INVALID_ARGUMENT: the spec is wrong, and how.
  virtual absl::StatusOr<std::string> Submit(const v1::JobSpec& spec, const std::string& request_id,
                                             int priority, bool no_cache) = 0;
  // NOT_FOUND: no such job.
  virtual absl::StatusOr<v1::JobStatus> GetJob(const std::string& job) = 0;
  // All inputs that failed. NOT_FOUND: no such job.
  virtual absl::StatusOr<std::vector<v1::Failure>> ListFailures(const std::string& job) = 0;
  // The spec of an ended job with every source pinned that could be. NOT_FOUND: no such job;
  // FAILED_PRECONDITION: it is running.
  virtual absl::StatusOr<v1::JobSpec> ReadLock(const std::string& job) = 0;
  // Newest first.
  virtual absl::StatusOr<std::vector<v1::JobStatus>> ListJobs() = 0;
  // The workers heard of lately, by name.
  virtual absl::StatusOr<std::vector<v1::WorkerInfo>> ListWorkers() = 0;
  // When the job's tasks waited and ran. NOT_FOUND: no such job.
  virtual absl::StatusOr<Timeline> GetTimeline(const std::string& job) = 0;
  // Ends a running job; answers how it ended. NOT_FOUND: no such job.
  virtual absl::StatusOr<v1::JobStatus> CancelJob(const std::string& job) = 0;
  // Runs an ended job again. NOT_FOUND: no such job.
  virtual absl::StatusOr<v1::JobStatus> RetryJob(const std::string& job, bool no_cache) = 0;
  // Forgets an ended job. NOT_FOUND: no such job; FAILED_PRECONDITION: it is running.
  virtual absl::Status DeleteJob(const std::string& job) = 0;
  // A WatchCall on the job. NOT_FOUND: no such job.
  virtual absl::Status Watch(const std::string& job, const OnStatus& on_status) = 0;
  // Ends the calls that are running and every later one.
  virtual void Interrupt() = 0;
};

// Calls other than Watch are tried again while the coordinator is out of reach; each is safe to
// repeat.
std::unique_ptr<CrawlClient> NewCrawlClient(std::shared_ptr<grpc::Channel> channel,
                                            ReconnectOptions reconnect = {});

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_GRPC_CRAWL_CLIENT_H_
