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

// A client of the coordinator's Crawl service. It is abstract so that its users do not compile
// gRPC's generated code. Thread-safe. UNAVAILABLE: the coordinator is out of reach; CANCELLED:
// Interrupt() was called; NOT_FOUND: the job does not exist.
class CrawlClient {
 public:
  virtual ~CrawlClient() = default;

  // Returns the new job's name. The same request id always returns the same job. With `no_cache`
  // every stage runs again. INVALID_ARGUMENT: the spec is wrong.
  virtual absl::StatusOr<std::string> Submit(const v1::JobSpec& spec, const std::string& request_id,
                                             int priority, bool no_cache) = 0;
  virtual absl::StatusOr<v1::JobStatus> GetJob(const std::string& job) = 0;
  // Returns all inputs that failed.
  virtual absl::StatusOr<std::vector<v1::Failure>> ListFailures(const std::string& job) = 0;
  // Returns the spec of an ended job, with the pins of all sources that could be pinned.
  // FAILED_PRECONDITION: the job is running.
  virtual absl::StatusOr<v1::JobSpec> ReadLock(const std::string& job) = 0;
  // Returns the jobs, newest first.
  virtual absl::StatusOr<std::vector<v1::JobStatus>> ListJobs() = 0;
  // Returns the workers that the coordinator heard from recently, by name.
  virtual absl::StatusOr<std::vector<v1::WorkerInfo>> ListWorkers() = 0;
  virtual absl::StatusOr<Timeline> GetTimeline(const std::string& job) = 0;
  // Ends a running job and returns its last status.
  virtual absl::StatusOr<v1::JobStatus> CancelJob(const std::string& job) = 0;
  // Runs an ended job again.
  virtual absl::StatusOr<v1::JobStatus> RetryJob(const std::string& job, bool no_cache) = 0;
  // Forgets an ended job. FAILED_PRECONDITION: the job is running.
  virtual absl::Status DeleteJob(const std::string& job) = 0;
  // A WatchCall on the job.
  virtual absl::Status Watch(const std::string& job, const OnStatus& on_status) = 0;
  // Ends the running calls and every later one.
  virtual void Interrupt() = 0;
};

// Makes a client over gRPC. It repeats calls other than Watch while the coordinator is out of
// reach; each is safe to repeat.
std::unique_ptr<CrawlClient> NewCrawlClient(std::shared_ptr<grpc::Channel> channel,
                                            ReconnectOptions reconnect = {});

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_GRPC_CRAWL_CLIENT_H_
