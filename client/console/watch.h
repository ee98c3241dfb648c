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

// One call of a coordinator's Watch: `on_status` gets the job now and at every change, until the
// job or the connection ends. An OK status means that the server ended the stream.
using WatchCall = std::function<absl::Status(const OnStatus& on_status)>;

struct WatchOptions {
  // The time to try again after the connection was lost.
  absl::Duration reconnect_timeout = absl::Seconds(60);
  // Called once each time that the connection is lost.
  std::function<void(const absl::Status&)> on_lost = [](const absl::Status&) {};
  std::function<absl::Time()> now = absl::Now;
  std::function<void(absl::Duration)> sleep = absl::SleepFor;
};

bool HasEnded(const v1::JobStatus& status);

// Follows a job to its end and returns its last status. If the connection is lost it calls again,
// with backoff.
//
// UNAVAILABLE: the coordinator stayed out of reach for reconnect_timeout. NOT_FOUND and CANCELLED
// come from `watch`.
absl::StatusOr<v1::JobStatus> WatchJob(const WatchCall& watch, const WatchOptions& options,
                                       const OnStatus& on_status);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_WATCH_H_
