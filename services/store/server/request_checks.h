#ifndef KERNELMILL_SERVICES_STORE_SERVER_REQUEST_CHECKS_H_
#define KERNELMILL_SERVICES_STORE_SERVER_REQUEST_CHECKS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "services/store/core/blob_id.h"
#include "services/store/core/resource_name.h"

namespace kernelmill::store {

// The largest piece of a stream that the store sends in one message.
inline constexpr size_t kMaxPieceBytes = 1 << 20;

// What every request of the Remote Execution API carries. INVALID_ARGUMENT: not an instance name,
// or a digest function other than SHA-256 (0 means: as the hash's length says).
template <typename Request>
absl::Status CheckRequest(const Request& request) {
  namespace reapi = ::build::bazel::remote::execution::v2;
  if (request.digest_function() != reapi::DigestFunction::UNKNOWN &&
      request.digest_function() != reapi::DigestFunction::SHA256) {
    return absl::InvalidArgumentError("the digest function is not SHA-256");
  }
  return CheckInstanceName(request.instance_name());
}

// INVALID_ARGUMENT: one of them is malformed.
absl::StatusOr<std::vector<BlobId>> ToBlobIds(
    const google::protobuf::RepeatedPtrField<cas::Digest>& digests);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_SERVER_REQUEST_CHECKS_H_
