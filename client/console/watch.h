#ifndef KERNELMILL_CLIENT_CONSOLE_WATCH_H_
#define KERNELMILL_CLIENT_CONSOLE_WATCH_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::client {

using OnStatus = std::function<void(const v1::JobStatus&)>;

// Calls a coordinator's Watch once: `on_status` sees the job now and at every change, until the job
// ends or the connection does; the status says which.
using WatchCall = std::function<absl::Status(const OnStatus& on_status)>;

struct WatchOptions {
  // How long to try again after the coordinator was last heard of.
  absl::Duration reconnect_timeout = absl::Seconds(60);
  // Called when the connection is lost, once until it is there again.
  std::function<void(const absl::Status&)> on_lost = [](const absl::Status&) {};
  std::function<absl::Time()> now = absl::Now;
  std::function<void(absl::Duration)> sleep = absl::SleepFor;
};

bool HasEnded(const v1::JobStatus& status);

// Follows a job to its end and answers with its last status. Where the connection is lost it calls
// again, with backoff; `on_status` then sees the job from where it is now.
//
// UNAVAILABLE: the coordinator stayed out of reach for reconnect_timeout; NOT_FOUND; CANCELLED.
absl::StatusOr<v1::JobStatus> WatchJob(const WatchCall& watch, const WatchOptions& options,
                                       const OnStatus& on_status);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_WATCH_H_
