#ifndef KERNELMILL_COMMON_RPC_UNPARSED_H_
#define KERNELMILL_COMMON_RPC_UNPARSED_H_

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/impl/serialization_traits.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/rpc/request_cost.h"
#include "common/rpc/status.h"

namespace kernelmill::rpc {

// Separates the field `field` of a message, which has bytes, from its other fields. Returns these,
// to be parsed. `content` gets the field's bytes, in pieces of `message`, which are not copied.
// INVALID_ARGUMENT: it is not a message.
absl::StatusOr<std::string> TakeBytesField(grpc::ByteBuffer& message, int field,
                                           std::vector<absl::string_view>* content);

// A request as it arrived. A handler that reads one decides when it is parsed, and whether: gRPC
// would parse it before the handler knows its size.
template <typename Request>
class Unparsed {
 public:
  int64_t size() const { return static_cast<int64_t>(bytes_.Length()); }

  // Parses the request and frees its bytes. INVALID_ARGUMENT: it is not one, or takes too much
  // memory.
  absl::Status Parse(Request& request) { return Parse(bytes_, request); }

  // Parses the request without its field `field`, whose bytes it copies nowhere: `content` gets
  // views of them, until Clear() or the next request. INVALID_ARGUMENT: it is not a request, or
  // takes too much memory.
  absl::Status ParseWithout(int field, Request& request, std::vector<absl::string_view>* content) {
    ASSIGN_OR_RETURN(const std::string rest, TakeBytesField(bytes_, field, content));
    const grpc::Slice slice(rest);
    grpc::ByteBuffer others(&slice, 1);
    return Parse(others, request);
  }

  void Clear() { bytes_.Clear(); }

 private:
  static absl::Status Parse(grpc::ByteBuffer& bytes, Request& request) {
    RETURN_IF_ERROR(GetParsedBytes(bytes, *Request::descriptor()).status());
    return FromGrpcStatus(grpc::SerializationTraits<Request>::Deserialize(&bytes, &request));
  }

  friend class grpc::SerializationTraits<Unparsed<Request>>;
  grpc::ByteBuffer bytes_;
};

}  // namespace kernelmill::rpc

namespace grpc {

template <typename Request>
class SerializationTraits<kernelmill::rpc::Unparsed<Request>> {
 public:
  static Status Deserialize(ByteBuffer* bytes, kernelmill::rpc::Unparsed<Request>* request) {
    request->bytes_.Clear();
    request->bytes_.Swap(bytes);
    return Status::OK;
  }
};

}  // namespace grpc

#endif  // KERNELMILL_COMMON_RPC_UNPARSED_H_
