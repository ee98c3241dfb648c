#include "common/rpc/cancellation.h"

#include "absl/time/time.h"
#include "common/rpc/status.h"

namespace kernelmill::rpc {
namespace {

absl::Status Cancelled() { return absl::CancelledError("this client's calls were cancelled"); }

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

CallStop::CallStop(const grpc::ServerContext& context) {
  thread_ = std::thread([this, &context] {
    while (!over_.stop_requested()) {
      const uint64_t seen = wake_.generation();
      if (context.IsCancelled()) gone_.request_stop();
      if (!over_.stop_requested()) wake_.WaitFor(seen, absl::Milliseconds(100));
    }
  });
}

CallStop::~CallStop() {
  over_.request_stop();
  wake_.Notify();
  thread_.join();
}

}  // namespace kernelmill::rpc
