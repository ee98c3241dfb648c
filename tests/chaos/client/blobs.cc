#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "common/cas/digest.h"
#include "common/cas/grpc_blob_store.h"
#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "google/bytestream/bytestream.grpc.pb.h"
#include "tests/chaos/client/commands.h"

namespace kernelmill::chaos {
namespace {

namespace reapi = ::build::bazel::remote::execution::v2;

struct Blobs {
  explicit Blobs(const Words& words)
      : seed(std::strtoull(words[1].c_str(), nullptr, 10)),
        count(std::strtoull(words[2].c_str(), nullptr, 10)),
        size(std::strtoull(words[3].c_str(), nullptr, 10)) {}
  std::string Make(uint64_t index) const { return MakeBlob(seed, index, size); }
  uint64_t seed, count, size;
};

std::string Verdict(const absl::Status& status, const std::string& got, const std::string& made) {
  if (!status.ok()) return absl::StatusCodeToString(status.code());
  return got == made ? "OK" : "WRONG";
}

// Reads without retry and without checks, to see the store's own answers.
std::string ReadAsStream(const std::shared_ptr<grpc::Channel>& channel, const std::string& made) {
  const auto stub = google::bytestream::ByteStream::NewStub(channel);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
  google::bytestream::ReadRequest request;
  request.set_resource_name(absl::StrCat("blobs/", cas::ToString(cas::ComputeDigest(made))));
  const auto stream = stub->Read(&context, request);
  std::string got;
  for (google::bytestream::ReadResponse piece; stream->Read(&piece);) got += piece.data();
  return Verdict(rpc::FromGrpcStatus(stream->Finish()), got, made);
}

std::string ReadInBatch(const std::shared_ptr<grpc::Channel>& channel, const std::string& made) {
  const auto stub = reapi::ContentAddressableStorage::NewStub(channel);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
  reapi::BatchReadBlobsRequest request;
  *request.add_digests() = cas::ComputeDigest(made);
  reapi::BatchReadBlobsResponse response;
  const grpc::Status status = stub->BatchReadBlobs(&context, request, &response);
  if (!status.ok() || response.responses_size() != 1) {
    return Verdict(rpc::FromGrpcStatus(status), "", made);
  }
  return Verdict(rpc::FromProtoStatus(response.responses(0).status()), response.responses(0).data(),
                 made);
}

}  // namespace

std::string MakeBlob(uint64_t seed, uint64_t index, size_t size) {
  uint64_t state = seed * 1000003 + index;
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<char>(state >> 56);
  }
  return bytes;
}

int Put(const Words& words) {
  const Blobs blobs(words);
  cas::GrpcBlobStoreOptions options;
  options.retry = {.max_attempts = 8, .max_backoff = absl::Milliseconds(200)};
  const auto store = cas::NewGrpcBlobStore(rpc::Connect(words[0]), options);
  for (uint64_t i = 0; i < blobs.count; ++i) {
    std::string bytes = blobs.Make(i);
    const cas::Digest digest = cas::ComputeDigest(bytes);
    absl::Status status;
    // Retries, since a full store may have room later; only the acknowledgement matters here.
    while (!(status = store->Put({{digest, bytes}})).ok()) {
      std::printf("%s %s\n", cas::ToString(digest).c_str(), status.ToString().c_str());
      absl::SleepFor(absl::Milliseconds(100));
    }
    std::printf("%s stored\n", cas::ToString(digest).c_str());
  }
  return 0;
}

int Check(const Words& words) {
  const Blobs blobs(words);
  const auto channel = rpc::Connect(words[0]);
  for (uint64_t i = 0; i < blobs.count; ++i) {
    const std::string made = blobs.Make(i);
    const std::string name = cas::ToString(cas::ComputeDigest(made));
    std::printf("%s %s\n", name.c_str(), ReadAsStream(channel, made).c_str());
    if (made.size() < (3 << 20)) {
      std::printf("%s %s\n", name.c_str(), ReadInBatch(channel, made).c_str());
    }
  }
  return 0;
}

int Missing(const Words& words) {
  const Blobs blobs(words);
  const auto store = cas::NewGrpcBlobStore(rpc::Connect(words[0]), {});
  for (uint64_t i = 0; i < blobs.count; ++i) {
    const cas::Digest digest = cas::ComputeDigest(blobs.Make(i));
    const absl::StatusOr<std::vector<cas::Digest>> missing = store->FindMissing({digest});
    if (!missing.ok()) return 1;
    std::printf("%s %s\n", cas::ToString(digest).c_str(), missing->empty() ? "FOUND" : "MISSING");
  }
  return 0;
}

}  // namespace kernelmill::chaos
