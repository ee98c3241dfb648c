#include "common/cas/digest.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message_lite.h>

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/text.h"

namespace kernelmill::cas {

Digest ComputeDigest(absl::string_view bytes) {
  Digest digest;
  digest.set_hash(Sha256Hex(bytes));
  digest.set_size_bytes(static_cast<int64_t>(bytes.size()));
  return digest;
}

// Only lower case is a hash: stores compare digests as text.
absl::Status CheckDigest(const Digest& digest) {
  const std::string& hash = digest.hash();
  if (!IsLowerHex(hash, 64)) {
    return absl::InvalidArgumentError(absl::StrCat("must be a SHA-256 in lowercase hexadecimal: ",
                                                   JsonString(hash.substr(0, 80))));
  }
  if (digest.size_bytes() < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("size_bytes: must not be negative: ", digest.size_bytes()));
  }
  return absl::OkStatus();
}

std::string ToString(const Digest& digest) {
  return absl::StrCat(digest.hash(), "/", digest.size_bytes());
}

// Compares the parsed digest's text with the input, which refuses everything that SimpleAtoi
// forgives: blanks, a plus sign, leading zeros.
absl::StatusOr<Digest> ParseDigest(absl::string_view text) {
  const size_t slash = std::min(text.find('/'), text.size());
  int64_t size = 0;
  const bool sized = absl::SimpleAtoi(text.substr(std::min(slash + 1, text.size())), &size);
  Digest digest;
  digest.set_hash(std::string(text.substr(0, slash)));
  digest.set_size_bytes(size);
  if (!sized || ToString(digest) != text || !CheckDigest(digest).ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("must be a digest, hash/size: ", JsonString(text.substr(0, 100))));
  }
  return digest;
}

bool SameDigest(const Digest& a, const Digest& b) {
  return a.hash() == b.hash() && a.size_bytes() == b.size_bytes();
}

// Maps have no order in protobuf, so a plain serialization may differ between two runs. Digests are
// made of these bytes, and must not.
std::string SerializeDeterministically(const google::protobuf::MessageLite& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

}  // namespace kernelmill::cas
