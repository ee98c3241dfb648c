#include "client/grpc/retrying_caller.h"

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <utility>

#include "common/rpc/retry.h"
#include "common/rpc/status.h"

namespace kernelmill::client {
namespace {

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
  return interrupted_ && !status.ok() ? Interrupted() : rpc::FromCallStatus(status);
}

absl::Status RetryingCaller::Pause(absl::Duration time) {
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
