#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/method_handler.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/access/authorizer.h"
#include "common/access/caller_limits.h"
#include "common/base/status.h"
#include "common/rpc/limited_calls.h"
#include "common/rpc/stall_guard.h"
#include "common/rpc/unparsed.h"
#include "google/bytestream/bytestream.grpc.pb.h"
#include "services/store/adapters/zstd/zstd_codec.h"
#include "services/store/core/content_store.h"
#include "services/store/core/resource_name.h"
#include "services/store/core/uploads.h"
#include "services/store/server/services.h"
#include "services/store/server/store_metrics.h"

namespace kernelmill::store {
namespace {

namespace bytestream = ::google::bytestream;

// The messages of uploads that are in memory at a time, of at most 16 MiB each; the others wait as
// they arrived, in gRPC's buffers.
constexpr int64_t kMessages = 16;
constexpr int64_t kMessagesOfCaller = 8;
constexpr absl::Duration kPatience = absl::Seconds(60);
// The largest content of one response message.
constexpr size_t kMaxPieceBytes = 1 << 20;

using GuardedStream = rpc::StallGuard::Stream;

// Makes a part of a message of bytes that stay where they are.
grpc::Slice ToSlice(const Piece& piece) {
  if (piece.owner == nullptr) return grpc::Slice(piece.bytes.data(), piece.bytes.size());
  using Owner = std::shared_ptr<const void>;
  return grpc::Slice(
      const_cast<char*>(piece.bytes.data()), piece.bytes.size(),
      [](void* owner) { delete static_cast<Owner*>(owner); }, new Owner(piece.owner));
}

// Makes a ReadResponse with these bytes, which are not copied if the piece owns them.
grpc::ByteBuffer ToResponse(const Piece& piece) {
  std::string head;
  {
    google::protobuf::io::StringOutputStream output(&head);
    google::protobuf::io::CodedOutputStream coded(&output);
    coded.WriteTag(bytestream::ReadResponse::kDataFieldNumber << 3 | 2);  // 2: bytes
    coded.WriteVarint32(static_cast<uint32_t>(piece.bytes.size()));
  }
  const grpc::Slice slices[] = {grpc::Slice(head), ToSlice(piece)};
  return grpc::ByteBuffer(slices, 2);
}

// A writer that sends pieces in messages of at most kMaxPieceBytes. CANCELLED: the client
// disconnected or stopped reading.
class PieceWriter {
 public:
  PieceWriter(grpc::ServerWriter<grpc::ByteBuffer>* stream, GuardedStream* guarded)
      : stream_(stream), guarded_(guarded) {}

  absl::Status Send(Piece rest) {
    while (!rest.bytes.empty()) {
      const Piece piece = {rest.bytes.substr(0, kMaxPieceBytes), rest.owner};
      rest.bytes.remove_prefix(piece.bytes.size());
      bool sent = false;
      guarded_->Wait([&] {
        sent = stream_->Write(ToResponse(piece));
        return static_cast<int64_t>(piece.bytes.size());
      });
      if (!sent) return absl::CancelledError("the client disconnected or stopped reading");
      CountBytesOut(static_cast<int64_t>(piece.bytes.size()));
    }
    return absl::OkStatus();
  }

 private:
  grpc::ServerWriter<grpc::ByteBuffer>* const stream_;
  GuardedStream* const guarded_;
};

// Reads and writes of blobs of any size. A StallGuard admits each stream and ends it if its client
// stays silent or does not read for too long, since each stream occupies a thread.
//
// A write is resumable: its resource name has an upload id, and Uploads keeps what has arrived
// under it. After a broken connection the client asks QueryWriteStatus for the committed size and
// goes on from there. A message of an upload is parsed when it has its turn, and freed before the
// next one is waited for, since there may be hundreds of uploads.
//
// The bytes of blobs are neither parsed nor serialized, which would copy them: messages are made of
// the pieces that the database returns, and uploads get the pieces that arrived.
class ByteStreamService final : public grpc::Service {
 public:
  ByteStreamService(ContentStore* store, Uploads* uploads, const rpc::StallGuard::Options& streams)
      : store_(store),
        uploads_(uploads),
        guard_(streams),
        messages_({"messages of uploads",
                   {"upload-messages-per-caller", kMessagesOfCaller},
                   {"upload-messages", kMessages},
                   ""}) {
    using grpc::internal::RpcMethod;
    Add("/google.bytestream.ByteStream/Read", RpcMethod::SERVER_STREAMING,
        new grpc::internal::ServerStreamingHandler<ByteStreamService, bytestream::ReadRequest,
                                                   grpc::ByteBuffer>(
            std::mem_fn(&ByteStreamService::Read), this));
    Add("/google.bytestream.ByteStream/Write", RpcMethod::CLIENT_STREAMING,
        new grpc::internal::ClientStreamingHandler<ByteStreamService, Message,
                                                   bytestream::WriteResponse>(
            std::mem_fn(&ByteStreamService::Write), this));
    Add("/google.bytestream.ByteStream/QueryWriteStatus", RpcMethod::NORMAL_RPC,
        new grpc::internal::RpcMethodHandler<ByteStreamService, bytestream::QueryWriteStatusRequest,
                                             bytestream::QueryWriteStatusResponse,
                                             google::protobuf::MessageLite,
                                             google::protobuf::MessageLite>(
            std::mem_fn(&ByteStreamService::QueryWriteStatus), this));
  }

 private:
  using Message = rpc::Unparsed<bytestream::WriteRequest>;
  using Reader = grpc::ServerReader<Message>;

  // Takes over the handler. gRPC keeps the pointer to the path.
  void Add(const char* path, grpc::internal::RpcMethod::RpcType type,
           grpc::internal::MethodHandler* handler) {
    AddMethod(new grpc::internal::RpcServiceMethod(path, type, handler));
  }

  grpc::Status Read(grpc::ServerContext* context, const bytestream::ReadRequest* request,
                    grpc::ServerWriter<grpc::ByteBuffer>* stream) {
    return Answer([&]() -> absl::Status {
      ASSIGN_OR_RETURN(const ResourceName name, ParseReadName(request->resource_name()));
      ASSIGN_OR_RETURN(const auto guarded, guard_.Admit([context] { context->TryCancel(); },
                                                        access::CallerKey(*context)));
      PieceWriter writer(stream, guarded.get());
      const auto send = [&writer](const Piece& piece) { return writer.Send(piece); };
      if (name.compression == Compression::kNone) {
        return store_->Read(name.blob, request->read_offset(), request->read_limit(), send);
      }
      if (request->read_limit() != 0) {
        return absl::InvalidArgumentError("read_limit: must be 0 for a compressed read");
      }
      // Offsets count bytes of the content. A compressed stream starts at the offset and cannot be
      // cut at a limit, because the limit would count compressed bytes.
      ZstdEncoder encoder;
      const auto send_bytes = [&writer](absl::string_view bytes) {
        return writer.Send({bytes, nullptr});
      };
      RETURN_IF_ERROR(store_->Read(
          name.blob, request->read_offset(), /*limit=*/0,
          [&](const Piece& piece) { return encoder.Encode(piece.bytes, send_bytes); }));
      return encoder.Finish(send_bytes);
    });
  }

  grpc::Status QueryWriteStatus(grpc::ServerContext*,
                                const bytestream::QueryWriteStatusRequest* request,
                                bytestream::QueryWriteStatusResponse* response) {
    return Answer([&]() -> absl::Status {
      ASSIGN_OR_RETURN(const ResourceName name, ParseWriteName(request->resource_name()));
      ASSIGN_OR_RETURN(const UploadState state, uploads_->Query(name));
      response->set_committed_size(state.committed);
      response->set_complete(state.complete);
      return absl::OkStatus();
    });
  }

  grpc::Status Write(grpc::ServerContext* context, Reader* stream,
                     bytestream::WriteResponse* response) {
    return Answer([&]() -> absl::Status {
      const std::string caller = access::CallerKey(*context);
      ASSIGN_OR_RETURN(const auto guarded,
                       guard_.Admit([context] { context->TryCancel(); }, caller));
      ASSIGN_OR_RETURN(const int64_t committed, ReceiveAll(*stream, *guarded, caller));
      response->set_committed_size(committed);
      return absl::OkStatus();
    });
  }

  // Receives one stream and returns the committed size of its upload. If the stream breaks or ends
  // early, the upload stays and can be resumed.
  absl::StatusOr<int64_t> ReceiveAll(Reader& stream, GuardedStream& guarded,
                                     const std::string& caller) {
    Message message;
    const auto read = [&] {
      bool more = false;
      guarded.Wait([&] {
        more = stream.Read(&message);
        return message.size();
      });
      return more;
    };
    if (!read()) return absl::InvalidArgumentError("the write stream has no message");
    std::string resource;
    std::unique_ptr<UploadStream> upload;
    do {
      const auto turn = messages_.Await(caller, kPatience);
      if (!turn.ok()) return absl::UnavailableError("the store is busy with other uploads");
      bytestream::WriteRequest request;
      std::vector<absl::string_view> content;
      RETURN_IF_ERROR(
          message.ParseWithout(bytestream::WriteRequest::kDataFieldNumber, request, &content));
      // Later messages may leave the name out, but must not change it.
      if (upload == nullptr) {
        resource = request.resource_name();
        ASSIGN_OR_RETURN(const ResourceName name, ParseWriteName(resource));
        ASSIGN_OR_RETURN(upload, uploads_->Begin(name, caller));
      } else if (!request.resource_name().empty() && request.resource_name() != resource) {
        return absl::InvalidArgumentError("resource_name: must not change within a write");
      }
      // The blob exists already: the client learns it after its first message and need not send the
      // rest.
      if (upload->state().complete) return upload->state().committed;
      RETURN_IF_ERROR(Append(request.write_offset(), content, *upload));
      message.Clear();
      if (request.finish_write()) {
        RETURN_IF_ERROR(upload->Finish());
        break;
      }
    } while (read());
    if (guarded.ended())
      return absl::CancelledError("the client sent nothing for too long; resume the upload");
    return upload->state().committed;
  }

  static absl::Status Append(int64_t offset, absl::Span<const absl::string_view> content,
                             UploadStream& upload) {
    if (content.empty()) return upload.Append(offset, "");
    for (const absl::string_view bytes : content) {
      const auto size = static_cast<int64_t>(bytes.size());
      CountBytesIn(size);
      RETURN_IF_ERROR(upload.Append(offset, bytes));
      offset += size;
    }
    return absl::OkStatus();
  }

  ContentStore* const store_;
  Uploads* const uploads_;
  rpc::StallGuard guard_;
  access::CallerLimits messages_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewByteStreamService(ContentStore* store, Uploads* uploads,
                                                    const rpc::StallGuard::Options& streams) {
  return std::make_unique<ByteStreamService>(store, uploads, streams);
}

}  // namespace kernelmill::store
