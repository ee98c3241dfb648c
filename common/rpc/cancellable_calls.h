#ifndef KERNELMILL_COMMON_RPC_CANCELLABLE_CALLS_H_
#define KERNELMILL_COMMON_RPC_CANCELLABLE_CALLS_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace kernelmill::rpc {

// The calls that a client is making, so that another thread can end all of them. Thread-safe.
class CancellableCalls {
 public:
  // Makes a call, in `attempt`, with a context that nobody else has used. CANCELLED: the calls were
  // cancelled, before or meanwhile. Otherwise what FromCallStatus makes of the answer.
  absl::Status Make(grpc::ClientContext& context, absl::FunctionRef<grpc::Status()> attempt);

  // Ends the calls that are running and refuses later ones.
  void CancelAll();
  bool cancelled() const;

 private:
  mutable absl::Mutex mutex_;
  std::set<grpc::ClientContext*> running_ ABSL_GUARDED_BY(mutex_);
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_CANCELLABLE_CALLS_H_
