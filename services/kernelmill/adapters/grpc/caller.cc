#include "services/kernelmill/adapters/grpc/caller.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/rpc/retry.h"
#include "common/rpc/status.h"

namespace kernelmill::client {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr rpc::RetryPolicy kBackoff = {.first_backoff = absl::Milliseconds(200),
                                       .max_backoff = absl::Seconds(4)};

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
  const SteadyClock::time_point start = SteadyClock::now();
  for (int tries = 1;; ++tries) {
    grpc::ClientContext context;
    if (deadline != absl::InfiniteDuration()) {
      context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoSeconds(deadline));
    }
    const absl::Status status = Once(context, attempt);
    if (status.ok() || absl::IsCancelled(status)) return status;
    if (!IsRetryable(status)) return Annotate(status, what);
    const absl::Duration left = patience_.time - absl::FromChrono(SteadyClock::now() - start);
    if (left <= absl::ZeroDuration()) {
      return Annotate(
          status, absl::StrCat(what, ": gave up after ", tries, tries == 1 ? " try" : " tries"));
    }
    if (tries == 1) patience_.on_away(status);
    RETURN_IF_ERROR(Pause(std::min(rpc::Backoff(kBackoff, tries), left)));
  }
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

}  // namespace kernelmill::client
