#ifndef KERNELMILL_SERVICES_FETCHER_SERVER_FETCH_METRICS_H_
#define KERNELMILL_SERVICES_FETCHER_SERVER_FETCH_METRICS_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::fetcher {

// One time that a host is asked for something, whatever calls that takes: to pin a source, to fetch
// it, or to search. Sources of this machine ask nobody, and are not counted.
class HostRequest {
 public:
  explicit HostRequest(const v1::Source& source);

  // How it ended, and the bytes that came.
  void End(const absl::Status& status, int64_t bytes = 0) const;

 private:
  const std::string host_;
  const std::string kind_;
  const std::chrono::steady_clock::time_point start_;
};

// Makes the series that are known before the first request.
void PrefillFetchMetrics();

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_SERVER_FETCH_METRICS_H_
