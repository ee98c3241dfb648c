#ifndef KERNELMILL_SERVICES_STORE_SERVER_DIGEST_QUESTION_H_
#define KERNELMILL_SERVICES_STORE_SERVER_DIGEST_QUESTION_H_

#include <grpcpp/support/byte_buffer.h>

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "services/store/core/blob_id.h"

namespace kernelmill::store {

// A FindMissingBlobsRequest, read where it arrived: its digests become no messages, which would
// take more time than their lookup. A response names the missing digests in a field of the same
// number, so that it consists of parts of the request.
class DigestQuestion {
 public:
  // INVALID_ARGUMENT: the request or a digest is malformed.
  static absl::StatusOr<DigestQuestion> Parse(const grpc::ByteBuffer& request);

  const std::vector<BlobId>& ids() const { return ids_; }
  // The fields beside the digests.
  const build::bazel::remote::execution::v2::FindMissingBlobsRequest& rest() const { return rest_; }

  // Makes the FindMissingBlobsResponse. `there`: whether each digest's blob exists.
  grpc::ByteBuffer MakeResponse(const std::vector<bool>& there) const;

 private:
  absl::Status ParseFields();

  grpc::Slice bytes_;
  std::vector<BlobId> ids_;
  std::vector<absl::string_view> fields_;  // each digest as it arrived, in `bytes_`
  build::bazel::remote::execution::v2::FindMissingBlobsRequest rest_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_SERVER_DIGEST_QUESTION_H_
