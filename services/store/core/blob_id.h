#ifndef KERNELMILL_SERVICES_STORE_CORE_BLOB_ID_H_
#define KERNELMILL_SERVICES_STORE_CORE_BLOB_ID_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cas/digest.h"

namespace kernelmill::store {

// A checked digest: the raw SHA-256 and the size of a blob. A value, cheap to copy by the hundred
// thousand: 32 bytes instead of a string of 64.
struct BlobId {
  char hash[32];
  int64_t size = 0;

  absl::string_view raw_hash() const { return absl::string_view(hash, sizeof(hash)); }
  bool operator==(const BlobId& other) const {
    return raw_hash() == other.raw_hash() && size == other.size;
  }
};

// Any part of a digest is a good hash of it, since digests are random.
struct BlobIdHash {
  size_t operator()(const BlobId& id) const {
    size_t hash;
    std::memcpy(&hash, id.hash + 8, sizeof(hash));
    return hash;
  }
};

// Converts a digest. INVALID_ARGUMENT: not 64 lowercase hexadecimal digits, or a negative size.
absl::StatusOr<BlobId> ToBlobId(const cas::Digest& digest);
absl::StatusOr<BlobId> ToBlobId(absl::string_view hash, int64_t size);
// Converts digests, in order. INVALID_ARGUMENT: one is malformed.
absl::StatusOr<std::vector<BlobId>> ToBlobIds(
    const google::protobuf::RepeatedPtrField<cas::Digest>& digests);
cas::Digest ToDigest(const BlobId& id);

std::string HexHash(const BlobId& id);
// "hash/size", for messages.
std::string ToString(const BlobId& id);

// Returns whether it is the id of the empty blob, which every store has.
bool IsEmptyBlob(const BlobId& id);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_BLOB_ID_H_
