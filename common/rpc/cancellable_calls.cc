#include "common/rpc/cancellable_calls.h"

#include "common/rpc/status.h"

namespace kernelmill::rpc {
namespace {

absl::Status Cancelled() { return absl::CancelledError("the calls of this client were cancelled"); }

}  // namespace

absl::Status CancellableCalls::Make(grpc::ClientContext& context,
                                    absl::FunctionRef<grpc::Status()> attempt) {
  {
    absl::MutexLock lock(&mutex_);
    if (cancelled_) return Cancelled();
    running_.insert(&context);
  }
  const grpc::Status status = attempt();
  absl::MutexLock lock(&mutex_);
  running_.erase(&context);
  return cancelled_ && !status.ok() ? Cancelled() : FromCallStatus(status);
}

void CancellableCalls::CancelAll() {
  absl::MutexLock lock(&mutex_);
  cancelled_ = true;
  for (grpc::ClientContext* context : running_) context->TryCancel();
}

bool CancellableCalls::cancelled() const {
  absl::MutexLock lock(&mutex_);
  return cancelled_;
}

}  // namespace kernelmill::rpc
