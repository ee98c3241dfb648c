// Health, and streams that stall.
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/cas/digest.h"
#include "common/cas/grpc_blob_store.h"
#include "common/rpc/server.h"
#include "google/bytestream/bytestream.grpc.pb.h"
#include "tests/chaos/client/commands.h"

namespace kernelmill::chaos {
namespace {

namespace bytestream = ::google::bytestream;

constexpr size_t kBlobBytes = 8 << 20;
constexpr size_t kPieceBytes = 64 << 10;
constexpr int kStreamsPerConnection = 50;

// Makes a separate connection; channels to one address normally share one.
std::shared_ptr<grpc::Channel> NewConnection(const std::string& address, int number) {
  grpc::ChannelArguments arguments;
  arguments.SetInt("chaos.connection", number);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// The open, stalled streams of one connection.
struct Stalled {
  explicit Stalled(std::shared_ptr<grpc::Channel> channel)
      : stub(bytestream::ByteStream::NewStub(std::move(channel))) {}

  void Upload(const std::string& blob) {
    grpc::ClientContext& context = *contexts.emplace_back(std::make_unique<grpc::ClientContext>());
    auto writer = stub->Write(&context, &response);
    bytestream::WriteRequest request;
    request.set_resource_name(absl::StrCat("uploads/stalled-", reinterpret_cast<uintptr_t>(this),
                                           "-", contexts.size(), "/blobs/",
                                           cas::ToString(cas::ComputeDigest(blob))));
    request.set_data(blob.substr(0, kPieceBytes));
    writer->Write(request);
    writers.push_back(std::move(writer));
  }

  void Read(const std::string& blob) {
    grpc::ClientContext& context = *contexts.emplace_back(std::make_unique<grpc::ClientContext>());
    bytestream::ReadRequest request;
    request.set_resource_name(absl::StrCat("blobs/", cas::ToString(cas::ComputeDigest(blob))));
    readers.push_back(stub->Read(&context, request));
  }

  std::unique_ptr<bytestream::ByteStream::Stub> stub;
  bytestream::WriteResponse response;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientWriter<bytestream::WriteRequest>>> writers;
  std::vector<std::unique_ptr<grpc::ClientReader<bytestream::ReadResponse>>> readers;
};

}  // namespace

int Health(const Words& words) {
  grpc::GenericStub stub(rpc::Connect(words[0]));
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(5)));
  grpc::CompletionQueue queue;
  // HealthCheckRequest: field 1 is the service; empty: not set.
  const std::string& service = words[1];
  const grpc::Slice asked(service.empty()
                              ? std::string()
                              : absl::StrCat("\x0a", std::string(1, service.size()), service));
  const grpc::ByteBuffer request(&asked, 1);
  const auto call =
      stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", request, &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  std::vector<grpc::Slice> slices;
  if (status.ok()) response.Dump(&slices).ok();
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  // HealthCheckResponse: field 1 is the status; 1 SERVING, 2 NOT_SERVING.
  const bool answered = bytes.size() == 2 && bytes[0] == 8;
  std::puts(!answered ? "UNREACHABLE" : bytes[1] == 1 ? "SERVING" : "NOT_SERVING");
  return 0;
}

int Stall(const Words& words) {
  const int streams = std::atoi(words[1].c_str());
  const std::string blob = MakeBlob(77, 0, kBlobBytes);
  const auto store = cas::NewGrpcBlobStore(rpc::Connect(words[0]), {});
  if (const absl::Status put = store->Put({{cas::ComputeDigest(blob), blob}}); !put.ok()) {
    std::fprintf(stderr, "%s\n", put.ToString().c_str());
    return 1;
  }
  const std::string never_stored = MakeBlob(78, 0, kBlobBytes);
  std::vector<std::unique_ptr<Stalled>> connections;
  for (int i = 0; i < streams; ++i) {
    if (i % kStreamsPerConnection == 0) {
      connections.push_back(
          std::make_unique<Stalled>(NewConnection(words[0], static_cast<int>(connections.size()))));
    }
    if (i % 2 == 0) {
      connections.back()->Upload(never_stored);
    } else {
      connections.back()->Read(blob);
    }
  }
  std::puts("stalled");
  while (std::getchar() != EOF) {
  }
  std::_Exit(0);  // without closing the streams, like a crashed client
}

}  // namespace kernelmill::chaos
