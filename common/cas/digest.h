#ifndef KERNELMILL_COMMON_CAS_DIGEST_H_
#define KERNELMILL_COMMON_CAS_DIGEST_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "build/bazel/remote/execution/v2/remote_execution.pb.h"

namespace google::protobuf {
class MessageLite;
}

namespace kernelmill::cas {

using Digest = ::build::bazel::remote::execution::v2::Digest;

// Computes the digest of `bytes`: SHA-256 and size.
Digest ComputeDigest(absl::string_view bytes);

// Checks a digest. INVALID_ARGUMENT: the hash is not 64 lowercase hexadecimal digits, or the size
// is negative.
absl::Status CheckDigest(const Digest& digest);

// Returns "hash/size", the form in resource names, logs and on the command line.
std::string ToString(const Digest& digest);
// Parses "hash/size". INVALID_ARGUMENT: malformed.
absl::StatusOr<Digest> ParseDigest(absl::string_view text);

bool SameDigest(const Digest& a, const Digest& b);

// Serializes a message for a digest: fields in order, map keys sorted.
std::string SerializeDeterministically(const google::protobuf::MessageLite& message);

}  // namespace kernelmill::cas

#endif  // KERNELMILL_COMMON_CAS_DIGEST_H_
