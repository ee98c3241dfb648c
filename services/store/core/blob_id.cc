#include "services/store/core/blob_id.h"

#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/status.h"

namespace kernelmill::store {

// A BlobId has the raw hash: half the size of the hexadecimal one, and comparable with memcmp.
absl::StatusOr<BlobId> ToBlobId(const cas::Digest& digest) {
  RETURN_IF_ERROR(cas::CheckDigest(digest));
  BlobId id;
  const std::string raw = absl::HexStringToBytes(digest.hash());
  std::memcpy(id.hash, raw.data(), sizeof(id.hash));
  id.size = digest.size_bytes();
  return id;
}

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

cas::Digest ToDigest(const BlobId& id) {
  cas::Digest digest;
  digest.set_hash(HexHash(id));
  digest.set_size_bytes(id.size);
  return digest;
}

std::string HexHash(const BlobId& id) { return absl::BytesToHexString(id.raw_hash()); }

std::string ToString(const BlobId& id) { return absl::StrCat(HexHash(id), "/", id.size); }

bool IsEmptyBlob(const BlobId& id) {
  static const std::string* const kHash = new std::string(Sha256(""));
  return id.size == 0 && id.raw_hash() == *kHash;
}

}  // namespace kernelmill::store
