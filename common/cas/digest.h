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

// SHA-256 and size of `bytes`.
Digest DigestOf(absl::string_view bytes);

// INVALID_ARGUMENT unless the hash is 64 lowercase hexadecimal digits and the size is not negative.
absl::Status CheckDigest(const Digest& digest);

// "hash/size", the form in resource names, logs and on the command line.
std::string ToString(const Digest& digest);
// The other way round. INVALID_ARGUMENT: not of that form.
absl::StatusOr<Digest> ParseDigest(absl::string_view text);

bool SameDigest(const Digest& a, const Digest& b);

// The one serialization that digests are taken of: fields in order, map keys sorted.
std::string SerializeDeterministically(const google::protobuf::MessageLite& message);

}  // namespace kernelmill::cas

#endif  // KERNELMILL_COMMON_CAS_DIGEST_H_
