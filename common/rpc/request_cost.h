#ifndef KERNELMILL_COMMON_RPC_REQUEST_COST_H_
#define KERNELMILL_COMMON_RPC_REQUEST_COST_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace google::protobuf {
class Descriptor;
}
namespace grpc {
class ByteBuffer;
}

namespace kernelmill::rpc {

// The largest memory that a request may take once it is parsed.
inline constexpr int64_t kMaxParsedBytes = 64 << 20;

// Returns about how many bytes of memory a message of `type` will take once it is parsed, without
// parsing it: two bytes can become an object of some hundred. INVALID_ARGUMENT: more than
// kMaxParsedBytes, or the bytes are not a message.
absl::StatusOr<int64_t> GetParsedBytes(grpc::ByteBuffer& bytes,
                                       const google::protobuf::Descriptor& type);

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_REQUEST_COST_H_
