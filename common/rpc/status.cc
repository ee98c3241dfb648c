#include "common/rpc/status.h"

#include <string>

#include "common/base/text.h"

namespace kernelmill::rpc {

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.raw_code()), ToUtf8(status.message()));
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

google::rpc::Status ToProtoStatus(const absl::Status& status) {
  google::rpc::Status proto;
  proto.set_code(status.raw_code());
  proto.set_message(ToUtf8(status.message()));
  return proto;
}

absl::Status FromProtoStatus(const google::rpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.code()), status.message());
}

}  // namespace kernelmill::rpc
