#ifndef KERNELMILL_SERVICES_CLI_CORE_WATCH_H_
#define KERNELMILL_SERVICES_CLI_CORE_WATCH_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernelmill/v1/crawl.pb.h"
#include "services/cli/core/crawl_client.h"

namespace kernelmill::cli {

struct WatchOptions {
  // How long to try again after the coordinator was last heard of.
  absl::Duration reconnect_for = absl::Seconds(60);
  // Called when the connection is lost, once until it is there again.
  std::function<void(const absl::Status&)> on_lost = [](const absl::Status&) {};
  std::function<absl::Time()> now = absl::Now;
  std::function<void(absl::Duration)> sleep = absl::SleepFor;
};

bool HasEnded(const v1::JobStatus& status);

// Follows the job to its end and answers with its last status. Where the connection is lost it
// connects again, with backoff; `on_status` then sees the job from where it is now.
//
// UNAVAILABLE: the coordinator stayed out of reach for reconnect_for; NOT_FOUND; CANCELLED.
absl::StatusOr<v1::JobStatus> WatchJob(CrawlClient& client, const std::string& job,
                                       const WatchOptions& options,
                                       const std::function<void(const v1::JobStatus&)>& on_status);

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_CORE_WATCH_H_
