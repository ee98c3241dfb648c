#include "common/rpc/cancellation.h"

#include "absl/time/time.h"
#include "common/rpc/status.h"

// gRPC has no way to cancel all calls of a client, and none to tell a handler that its caller is
// gone. CancellableCalls keeps the contexts of running calls, so that CancelAll can cancel each.
// CallStop asks the server's context ten times a second, on a thread of its own, and turns the
// answer into a stop token for the work.
namespace kernelmill::rpc {
namespace {

absl::Status Cancelled() { return absl::CancelledError("this client's calls were cancelled"); }

}  // namespace

// The context is in running_ exactly while the call runs, so that CancelAll never uses a destroyed
// one. A call that ended well just before it was cancelled counts as done.
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
  // gRPC's own CANCELLED would become UNAVAILABLE, and be retried.
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

// The generation is read before the test, so that a Notify between test and wait is not missed.
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
