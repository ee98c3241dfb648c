#ifndef KERNELMILL_COMMON_RPC_UNPARSED_H_
#define KERNELMILL_COMMON_RPC_UNPARSED_H_

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/impl/serialization_traits.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/status.h"
#include "common/rpc/request_cost.h"
#include "common/rpc/status.h"

namespace kernelmill::rpc {

// A request as it arrived. A handler that reads one decides when it is parsed, and whether: gRPC
// would parse it before the handler knows its size.
template <typename Request>
class Unparsed {
 public:
  int64_t size() const { return static_cast<int64_t>(bytes_.Length()); }

  // Parses the request and frees its bytes. INVALID_ARGUMENT: it is not one, or takes too much
  // memory.
  absl::Status Parse(Request& request) {
    RETURN_IF_ERROR(GetParsedBytes(bytes_, *Request::descriptor()).status());
    return FromGrpcStatus(grpc::SerializationTraits<Request>::Deserialize(&bytes_, &request));
  }

 private:
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
