#ifndef KERNELMILL_CLIENT_JOBS_PAGE_JOBS_PAGE_H_
#define KERNELMILL_CLIENT_JOBS_PAGE_JOBS_PAGE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/grpc/crawl_client.h"

namespace kernelmill::client {

// A page of a cluster's jobs and workers over HTTP: GET /, /assets/..., /api/state, and
// /api/job?name=JOB. It only reads. All viewers together ask the coordinator at most once a second
// for each answer. Threads are its own.
class JobsPage {
 public:
  // Starts serving on `address` (host:port; port 0 picks one). `jobs` must outlive the page and be
  // interrupted before the page is destroyed, if it may be waiting. `flags`, such as
  // " --store host:7071", are shown in the page's commands.
  // FAILED_PRECONDITION: the address cannot be bound.
  static absl::StatusOr<std::unique_ptr<JobsPage>> Start(const std::string& address,
                                                         CrawlClient& jobs, std::string flags);
  ~JobsPage();

  int port() const;
  // Returns "http://HOST:PORT/".
  std::string url() const;

 private:
  struct Parts;
  explicit JobsPage(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_JOBS_PAGE_JOBS_PAGE_H_
