#ifndef KERNELMILL_COMMON_RPC_STATUS_H_
#define KERNELMILL_COMMON_RPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"
#include "google/rpc/status.pb.h"

namespace kernelmill::rpc {

// The only conversions between absl::Status and the statuses of gRPC and of protos. Codes have the
// same numbers. Messages that are not UTF-8 are repaired.
grpc::Status ToGrpcStatus(const absl::Status& status);
absl::Status FromGrpcStatus(const grpc::Status& status);
// Converts the status of a call that this side did not cancel. All of gRPC's statuses for a broken
// connection, or a server that exited during the answer, become UNAVAILABLE.
absl::Status FromCallStatus(const grpc::Status& status);
google::rpc::Status ToProtoStatus(const absl::Status& status);
absl::Status FromProtoStatus(const google::rpc::Status& status);

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_STATUS_H_
