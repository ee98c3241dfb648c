#ifndef KERNELMILL_COMMON_RPC_CALL_STOP_H_
#define KERNELMILL_COMMON_RPC_CALL_STOP_H_

#include <grpcpp/server_context.h>

#include <stop_token>
#include <thread>

#include "common/base/notifier.h"

namespace kernelmill::rpc {

// Requests a stop once the caller of a call has gone. A synchronous server is told of that only
// when it asks: a thread does, ten times a second, while this lives.
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

#endif  // KERNELMILL_COMMON_RPC_CALL_STOP_H_
