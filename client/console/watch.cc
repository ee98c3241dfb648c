// The loop that follows a job over connections that may break. A coordinator that answers restarts
// both the backoff and the time that it may be away.

#include "client/console/watch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/rpc/retry.h"

namespace kernelmill::client {

bool HasEnded(const v1::JobStatus& status) {
  return status.state() != v1::JOB_STATE_UNSPECIFIED && status.state() != v1::JOB_STATE_RUNNING;
}

absl::StatusOr<v1::JobStatus> WatchJob(const WatchCall& watch, const WatchOptions& options,
                                       const OnStatus& on_status) {
  const rpc::RetryPolicy backoff = {.first_backoff = absl::Milliseconds(100),
                                    .max_backoff = absl::Seconds(2)};
  v1::JobStatus last;
  absl::Time heard = options.now();
  bool lost = false;
  for (int attempt = 1;; ++attempt) {
    bool answered = false;
    absl::Status ended = watch([&](const v1::JobStatus& status) {
      last = status;
      answered = true;
      attempt = 1;
      lost = false;
      on_status(status);
    });
    // The stream lasted until now, however long ago its last status came.
    if (answered) heard = options.now();
    // The last status decides, not the way in which the stream ended.
    if (HasEnded(last)) return last;
    // A coordinator that drains ends the stream well before the job.
    if (ended.ok()) ended = absl::UnavailableError("the coordinator ended the watch");
    if (!IsRetryable(ended)) return ended;
    const absl::Duration left = heard + options.reconnect_timeout - options.now();
    if (left <= absl::ZeroDuration()) {
      return absl::UnavailableError(absl::StrCat("lost the coordinator for ",
                                                 absl::FormatDuration(options.reconnect_timeout),
                                                 ": ", std::string(ended.message())));
    }
    if (!std::exchange(lost, true)) options.on_lost(ended);
    // Never sleep beyond the end of the time.
    options.sleep(std::min(rpc::Backoff(backoff, attempt), left));
  }
}

}  // namespace kernelmill::client
