#ifndef KERNELMILL_SERVICES_STORE_SERVER_ANSWER_H_
#define KERNELMILL_SERVICES_STORE_SERVER_ANSWER_H_

#include <grpcpp/support/status.h>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "common/rpc/status.h"

namespace kernelmill::store {

// Runs a handler's body; the one place where a status goes to the wire.
inline grpc::Status Answer(absl::FunctionRef<absl::Status()> body) {
  return rpc::ToGrpcStatus(body());
}

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_SERVER_ANSWER_H_
