#ifndef KERNELMILL_SERVICES_STORE_SERVER_WIRE_TEST_BASE_H_
#define KERNELMILL_SERVICES_STORE_SERVER_WIRE_TEST_BASE_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "common/base/file.h"
#include "common/cas/digest.h"
#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "google/bytestream/bytestream.grpc.pb.h"
#include "services/store/server/store_server.h"

namespace kernelmill::store {

namespace reapi = ::build::bazel::remote::execution::v2;
namespace bytestream = ::google::bytestream;

// A store behind a socket, and raw stubs for it.
class WireTest : public ::testing::Test {
 protected:
  // `options` makes the store's options from the test's temporary folder.
  explicit WireTest(StoreServer::Options (*options)(const std::string& dir) = DataIn)
      : options_(options) {}
  static StoreServer::Options DataIn(const std::string& dir) { return {.data_dir = dir + "/data"}; }

  // Calls `stub`->`method` and returns the code; the answer is in `response`.
  template <typename Stub, typename Method, typename Request, typename Response>
  static absl::StatusCode Call(Stub& stub, Method method, const Request& request,
                               Response* response) {
    grpc::ClientContext context;
    return rpc::FromGrpcStatus((stub.*method)(&context, request, response)).code();
  }

  // Stores one blob in a batch. Returns the blob's code.
  absl::StatusCode Put(const cas::Digest& digest, const std::string& bytes) {
    reapi::BatchUpdateBlobsRequest request;
    auto* blob = request.add_requests();
    *blob->mutable_digest() = digest;
    blob->set_data(bytes);
    reapi::BatchUpdateBlobsResponse response;
    const absl::StatusCode code =
        Call(*cas_, &reapi::ContentAddressableStorage::Stub::BatchUpdateBlobs, request, &response);
    if (code != absl::StatusCode::kOk || response.responses_size() != 1) return code;
    return rpc::FromProtoStatus(response.responses(0).status()).code();
  }
  absl::StatusCode Put(const std::string& bytes) { return Put(cas::ComputeDigest(bytes), bytes); }

  // Reads a resource as a stream.
  absl::StatusCode Read(const std::string& name, int64_t offset, int64_t limit,
                        std::string* bytes) {
    grpc::ClientContext context;
    bytestream::ReadRequest request;
    request.set_resource_name(name);
    request.set_read_offset(offset);
    request.set_read_limit(limit);
    const auto stream = stream_->Read(&context, request);
    bytestream::ReadResponse piece;
    bytes->clear();
    while (stream->Read(&piece)) bytes->append(piece.data());
    return rpc::FromGrpcStatus(stream->Finish()).code();
  }

  // Writes `messages` in one stream.
  absl::StatusCode Write(const std::vector<bytestream::WriteRequest>& messages,
                         int64_t* committed) {
    grpc::ClientContext context;
    bytestream::WriteResponse response;
    const auto stream = stream_->Write(&context, &response);
    for (const auto& message : messages) {
      if (!stream->Write(message)) break;
    }
    stream->WritesDone();
    const absl::StatusCode code = rpc::FromGrpcStatus(stream->Finish()).code();
    *committed = response.committed_size();
    return code;
  }
  static bytestream::WriteRequest Message(const std::string& name, int64_t offset,
                                          const std::string& data, bool finish) {
    bytestream::WriteRequest message;
    message.set_resource_name(name);
    message.set_write_offset(offset);
    message.set_data(data);
    message.set_finish_write(finish);
    return message;
  }

  static std::string BlobName(const std::string& bytes) {
    return absl::StrCat("blobs/", cas::ToString(cas::ComputeDigest(bytes)));
  }
  static std::string UploadName(const std::string& bytes, const std::string& id = "upload-1") {
    return absl::StrCat("uploads/", id, "/", BlobName(bytes));
  }

  StoreServer::Options (*const options_)(const std::string& dir);
  TempDir dir_ = *TempDir::Create();
  // A socket: gRPC 1.51's in-process transport hangs when a server answers a stream before its end.
  const std::string address_ = absl::StrCat("unix:", dir_.path(), "/socket");
  std::unique_ptr<StoreServer> store_ = *StoreServer::Open(options_(dir_.path()));
  std::unique_ptr<rpc::Server> server_ =
      *rpc::Server::Start({.address = address_}, store_->services());
  std::shared_ptr<grpc::Channel> channel_ = rpc::Connect(address_);
  std::unique_ptr<reapi::ContentAddressableStorage::Stub> cas_ =
      reapi::ContentAddressableStorage::NewStub(channel_);
  std::unique_ptr<reapi::ActionCache::Stub> action_cache_ = reapi::ActionCache::NewStub(channel_);
  std::unique_ptr<reapi::Capabilities::Stub> capabilities_ = reapi::Capabilities::NewStub(channel_);
  std::unique_ptr<bytestream::ByteStream::Stub> stream_ = bytestream::ByteStream::NewStub(channel_);
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_SERVER_WIRE_TEST_BASE_H_
