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

// A digest that was checked: the raw SHA-256 and the size of a blob. A value; cheap to copy by the
// hundred thousand, since 32 bytes replace a string of 64.
struct BlobId {
  char hash[32];
  int64_t size = 0;

  absl::string_view raw_hash() const { return absl::string_view(hash, sizeof(hash)); }
  bool operator==(const BlobId& other) const {
    return raw_hash() == other.raw_hash() && size == other.size;
  }
};

// A digest is random, so that any part of it serves as a hash of it.
struct BlobIdHash {
  size_t operator()(const BlobId& id) const {
    size_t hash;
    std::memcpy(&hash, id.hash + 8, sizeof(hash));
    return hash;
  }
};

// INVALID_ARGUMENT: not 64 lowercase hexadecimal digits, or a negative size.
absl::StatusOr<BlobId> ToBlobId(const cas::Digest& digest);
// INVALID_ARGUMENT: one of them is malformed.
absl::StatusOr<std::vector<BlobId>> ToBlobIds(
    const google::protobuf::RepeatedPtrField<cas::Digest>& digests);
cas::Digest ToDigest(const BlobId& id);

std::string HexHash(const BlobId& id);
// "hash/size", for messages.
std::string ToString(const BlobId& id);

// Whether it names the blob of no bytes, which every store holds.
bool IsEmptyBlob(const BlobId& id);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_BLOB_ID_H_
