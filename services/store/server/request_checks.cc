#include "services/store/server/request_checks.h"

#include "common/base/status.h"

namespace kernelmill::store {

absl::StatusOr<std::vector<BlobId>> ToBlobIds(
    const google::protobuf::RepeatedPtrField<cas::Digest>& digests) {
  std::vector<BlobId> ids;
  ids.reserve(digests.size());
  for (const cas::Digest& digest : digests) {
    ASSIGN_OR_RETURN(const BlobId id, ToBlobId(digest));
    ids.push_back(id);
  }
  return ids;
}

}  // namespace kernelmill::store
