// Calls that a person waits for. Any thread may make calls, and any thread may call Interrupt,
// which ends them all at once, also a call that is only pausing before its next try.
//
// The invariant is that no call escapes an interrupt: a call is registered in running_ under the
// same lock under which interrupted_ is checked. So either Interrupt finds it and cancels it, or
// the call sees interrupted_ and does not start.

#include "client/grpc/retrying_caller.h"

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <utility>

#include "common/rpc/retry.h"
#include "common/rpc/status.h"

namespace kernelmill::client {
namespace {

// Without a limit of attempts: the reconnect timeout ends the tries. A person waits, so pauses are
// short.
constexpr rpc::RetryPolicy kBackoff = {
    .max_attempts = 0, .first_backoff = absl::Milliseconds(200), .max_backoff = absl::Seconds(4)};

absl::Status Interrupted() { return absl::CancelledError("interrupted"); }

}  // namespace

absl::Status RetryingCaller::Once(grpc::ClientContext& context, const Attempt& attempt) {
  {
    absl::MutexLock lock(&mutex_);
    if (interrupted_) return Interrupted();
    running_.insert(&context);
  }
  const grpc::Status status = attempt(context);
  absl::MutexLock lock(&mutex_);
  running_.erase(&context);
  // A call that succeeded before the interrupt reached it keeps its result.
  return interrupted_ && !status.ok() ? Interrupted() : rpc::FromCallStatus(status);
}

absl::Status RetryingCaller::Pause(absl::Duration time) {
  // Read the generation before the flag: a Notify between the two then ends the wait at once.
  const uint64_t seen = interrupt_.generation();
  {
    absl::MutexLock lock(&mutex_);
    if (interrupted_) return Interrupted();
  }
  interrupt_.WaitFor(seen, time);
  absl::MutexLock lock(&mutex_);
  return interrupted_ ? Interrupted() : absl::OkStatus();
}

absl::Status RetryingCaller::Call(absl::string_view what, const Attempt& attempt,
                                  absl::Duration deadline) {
  rpc::RetryPolicy policy = kBackoff;
  policy.max_time = reconnect_.timeout;
  absl::Status last;
  bool told = false;
  const absl::Status status = rpc::Retry(
      policy, what,
      [&] {
        grpc::ClientContext context;
        if (deadline != absl::InfiniteDuration()) {
          context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoSeconds(deadline));
        }
        return last = Once(context, attempt);
      },
      [&](absl::Duration pause) {
        // Retry pauses only after a retryable error. The person is told once for each call.
        if (!std::exchange(told, true)) reconnect_.on_unreachable(last);
        return Pause(pause);
      });
  return absl::IsCancelled(status) ? Interrupted() : status;
}

absl::Status RetryingCaller::Stream(const Attempt& attempt) {
  grpc::ClientContext context;
  return Once(context, attempt);
}

void RetryingCaller::Interrupt() {
  {
    absl::MutexLock lock(&mutex_);
    interrupted_ = true;
    for (grpc::ClientContext* context : running_) context->TryCancel();
  }
  interrupt_.Notify();
}

}  // namespace kernelmill::client
