#ifndef KERNELMILL_COMMON_RPC_RETRY_H_
#define KERNELMILL_COMMON_RPC_RETRY_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace kernelmill::rpc {

// A policy of retries: exponential backoff with jitter.
struct RetryPolicy {
  int max_attempts = 8;  // 0: no limit
  // The time from the first try to the start of the last one.
  absl::Duration max_time = absl::InfiniteDuration();
  absl::Duration first_backoff = absl::Milliseconds(50);
  absl::Duration max_backoff = absl::Seconds(5);
  double growth = 2.0;
};

// Sleeps between tries. If it returns an error, Retry stops with that error.
using Sleeper = std::function<absl::Status(absl::Duration)>;

// Calls `attempt` until it returns OK, an error that is not retryable (IsRetryable), or the policy
// ends. The last status says why the retries ended. `attempt` must be idempotent and make a new
// ClientContext each time.
absl::Status Retry(const RetryPolicy& policy, absl::string_view what,
                   const std::function<absl::Status()>& attempt, const Sleeper& sleep = nullptr);

// Returns the pause after try number `attempt`, which counts from 1: between half and all of the
// exponential backoff.
absl::Duration Backoff(const RetryPolicy& policy, int attempt);

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_RETRY_H_
