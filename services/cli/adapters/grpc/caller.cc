#include "services/cli/adapters/grpc/caller.h"

#include <chrono>
#include <utility>

#include "common/rpc/retry.h"
#include "common/rpc/status.h"

namespace kernelmill::cli {
namespace {

constexpr rpc::RetryPolicy kBackoff = {
    .max_attempts = 0, .first_backoff = absl::Milliseconds(200), .max_backoff = absl::Seconds(4)};

absl::Status Interrupted() { return absl::CancelledError("interrupted"); }

}  // namespace

absl::Status Caller::Once(grpc::ClientContext& context, const Attempt& attempt) {
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

absl::Status Caller::Pause(absl::Duration time) {
  const uint64_t seen = interruption_.generation();
  {
    absl::MutexLock lock(&mutex_);
    if (interrupted_) return Interrupted();
  }
  interruption_.WaitFor(seen, time);
  absl::MutexLock lock(&mutex_);
  return interrupted_ ? Interrupted() : absl::OkStatus();
}

absl::Status Caller::Call(absl::string_view what, const Attempt& attempt, absl::Duration deadline) {
  rpc::RetryPolicy policy = kBackoff;
  policy.max_time = patience_.time;
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
        if (!std::exchange(told, true)) patience_.on_away(last);
        return Pause(pause);
      });
  return absl::IsCancelled(status) ? Interrupted() : status;
}

absl::Status Caller::Stream(const Attempt& attempt) {
  grpc::ClientContext context;
  return Once(context, attempt);
}

void Caller::Interrupt() {
  {
    absl::MutexLock lock(&mutex_);
    interrupted_ = true;
    for (grpc::ClientContext* context : running_) context->TryCancel();
  }
  interruption_.Notify();
}

}  // namespace kernelmill::cli
