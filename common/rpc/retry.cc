#include "common/rpc/retry.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "absl/random/random.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/base/status.h"

// With the default policy the pauses are 25 to 50 ms, 50 to 100 ms and so on, up to 5 s. A server
// that restarts soon so costs its clients little time, and eight tries take 3 to 6 s.
namespace kernelmill::rpc {

// Grows with each attempt up to a bound. The random half keeps many clients, which all lost the
// same server, from coming back at the same moment.
absl::Duration Backoff(const RetryPolicy& policy, int attempt) {
  const absl::Duration ceiling =
      std::min(policy.max_backoff, policy.first_backoff * std::pow(policy.growth, attempt - 1));
  thread_local absl::BitGen random;
  return ceiling * absl::Uniform(random, 0.5, 1.0);
}

// Tries until success, a final error, or the end of attempts or time. `sleep` replaces the wait;
// its error ends the tries, so that a caller can be stopped while it waits. The last pause is cut
// to the time that is left, so there is one more try at the very end.
absl::Status Retry(const RetryPolicy& policy, absl::string_view what,
                   const std::function<absl::Status()>& attempt, const Sleeper& sleep) {
  const auto start = std::chrono::steady_clock::now();
  for (int tries = 1;; ++tries) {
    absl::Status status = attempt();
    if (status.ok()) return status;
    if (!IsRetryable(status)) return Annotate(status, what);
    const absl::Duration taken = absl::FromChrono(std::chrono::steady_clock::now() - start);
    const absl::Duration left = policy.max_time - taken;
    if ((policy.max_attempts > 0 && tries >= policy.max_attempts) || left <= absl::ZeroDuration()) {
      return Annotate(status,
                      absl::StrFormat("%s: gave up after %d %s in %.1f s", what, tries,
                                      tries == 1 ? "try" : "tries", absl::ToDoubleSeconds(taken)));
    }
    // A longer pause would only delay the error.
    const absl::Duration pause = std::min(Backoff(policy, tries), left);
    if (sleep) {
      RETURN_IF_ERROR(sleep(pause));
    } else {
      absl::SleepFor(pause);
    }
  }
}

}  // namespace kernelmill::rpc
