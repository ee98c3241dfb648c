#ifndef KERNELMILL_COMMON_RPC_CANCELLATION_H_
#define KERNELMILL_COMMON_RPC_CANCELLATION_H_

#include <grpcpp/client_context.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <set>
#include <stop_token>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "common/base/notifier.h"

namespace kernelmill::rpc {

// The running calls of a client, which another thread can cancel all at once. Thread-safe.
class CancellableCalls {
 public:
  // Makes a call, in `attempt`, with an unused context. CANCELLED: the calls were cancelled before
  // or meanwhile. Otherwise returns the call's status (FromCallStatus).
  absl::Status Make(grpc::ClientContext& context, absl::FunctionRef<grpc::Status()> attempt);

  // Cancels the running calls and all later ones.
  void CancelAll();
  bool cancelled() const;

 private:
  mutable absl::Mutex mutex_;
  std::set<grpc::ClientContext*> running_ ABSL_GUARDED_BY(mutex_);
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

// A stop token that is triggered when the caller of a call disconnects. A synchronous gRPC server
// must poll for that: this object's thread does, ten times a second.
class CallStop {
 public:
  // `context` must outlive it.
  explicit CallStop(const grpc::ServerContext& context);
  ~CallStop();

  std::stop_token token() const { return gone_.get_token(); }

 private:
  std::stop_source gone_, over_;
  Notifier wake_;
  std::thread thread_;
};

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_CANCELLATION_H_
