#include "services/store/core/blob_id.h"

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/status.h"

namespace kernelmill::store {

namespace {

constexpr uint8_t kNoDigit = 0xff;

// The values of the lowercase hexadecimal digits, by character.
constexpr std::array<uint8_t, 256> MakeDigits() {
  std::array<uint8_t, 256> digits = {};
  for (uint8_t& value : digits) value = kNoDigit;
  for (int i = 0; i < 16; ++i) digits["0123456789abcdef"[i]] = static_cast<uint8_t>(i);
  return digits;
}

// Decodes a hash. Returns false if it is not one: 64 lowercase hexadecimal digits.
bool DecodeHash(absl::string_view hex, BlobId* id) {
  static constexpr std::array<uint8_t, 256> kDigits = MakeDigits();
  if (hex.size() != 2 * sizeof(id->hash)) return false;
  uint8_t bad = 0;
  for (size_t i = 0; i < sizeof(id->hash); ++i) {
    const uint8_t high = kDigits[static_cast<uint8_t>(hex[2 * i])];
    const uint8_t low = kDigits[static_cast<uint8_t>(hex[2 * i + 1])];
    bad |= high | low;
    id->hash[i] = static_cast<char>(high << 4 | low);
  }
  return bad < 16;
}

}  // namespace

// A BlobId has the raw hash: half the size of the hexadecimal one, and comparable with memcmp.
absl::StatusOr<BlobId> ToBlobId(absl::string_view hash, int64_t size) {
  BlobId id;
  id.size = size;
  if (size >= 0 && DecodeHash(hash, &id)) return id;
  cas::Digest digest;
  digest.set_hash(std::string(hash));
  digest.set_size_bytes(size);
  return cas::CheckDigest(digest);
}

absl::StatusOr<BlobId> ToBlobId(const cas::Digest& digest) {
  return ToBlobId(digest.hash(), digest.size_bytes());
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
