#ifndef KERNELMILL_COMMON_RPC_STATUS_H_
#define KERNELMILL_COMMON_RPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"
#include "google/rpc/status.pb.h"

namespace kernelmill::rpc {

// The only conversions between absl::Status and the wire's. Codes are the same numbers; messages
// that are not UTF-8 are repaired.
grpc::Status ToGrpcStatus(const absl::Status& status);
absl::Status FromGrpcStatus(const grpc::Status& status);
// Of a call that was not cancelled on this side: UNAVAILABLE also for the ways in which gRPC says
// that the connection broke, or the server ended, while the answer was on its way.
absl::Status FromCallStatus(const grpc::Status& status);
google::rpc::Status ToProtoStatus(const absl::Status& status);
absl::Status FromProtoStatus(const google::rpc::Status& status);

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_STATUS_H_
