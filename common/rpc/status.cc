#include "common/rpc/status.h"

#include <string>

#include "absl/strings/match.h"
#include "common/base/text.h"

namespace kernelmill::rpc {

// The protocol wants messages in UTF-8. Both libraries number the codes alike.
grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.raw_code()), ToUtf8(status.message()));
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

// A connection that breaks in the middle of a call shows in three forms, depending on how far the
// call was. All become UNAVAILABLE, which is retried.
absl::Status FromCallStatus(const grpc::Status& status) {
  const bool broken = status.error_code() == grpc::StatusCode::CANCELLED ||
                      (status.error_code() == grpc::StatusCode::UNKNOWN &&
                       status.error_message() == "Stream removed") ||
                      (status.error_code() == grpc::StatusCode::INTERNAL &&
                       absl::StrContains(status.error_message(), "RST_STREAM"));
  return broken ? absl::UnavailableError(status.error_message()) : FromGrpcStatus(status);
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
