#ifndef KERNELMILL_COMMON_RPC_RETRY_H_
#define KERNELMILL_COMMON_RPC_RETRY_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace kernelmill::rpc {

// How long and how often to try again: exponential backoff with full jitter.
struct RetryPolicy {
  int max_attempts = 8;  // 0 is no limit
  // From the first try to the beginning of the last.
  absl::Duration max_time = absl::InfiniteDuration();
  absl::Duration first_backoff = absl::Milliseconds(50);
  absl::Duration max_backoff = absl::Seconds(5);
  double growth = 2.0;
};

// An error ends the tries with it.
using Sleeper = std::function<absl::Status(absl::Duration)>;

// Calls `attempt` until it is OK, its status is not retryable (IsRetryable), or the policy ends;
// the last status then says why retrying ended. `attempt` makes a new ClientContext each time and
// must be idempotent.
absl::Status Retry(const RetryPolicy& policy, absl::string_view what,
                   const std::function<absl::Status()>& attempt, const Sleeper& sleep = nullptr);

// The pause before try number `attempt` + 1, from 1, with jitter.
absl::Duration Backoff(const RetryPolicy& policy, int attempt);

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_RETRY_H_
