#include "tests/bench/store/load.h"

#include <grpcpp/support/slice.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/base/status.h"
#include "common/cas/digest.h"
#include "google/bytestream/bytestream.pb.h"

namespace kernelmill::bench {
namespace {

namespace reapi = ::build::bazel::remote::execution::v2;
namespace bytestream = ::google::bytestream;

constexpr char kCas[] = "/build.bazel.remote.execution.v2.ContentAddressableStorage/";
constexpr char kStream[] = "/google.bytestream.ByteStream/";

// Requests of a reading load; more operations go round.
constexpr int kDifferentRequests = 512;

grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

template <typename Message>
absl::StatusOr<Message> FromBuffer(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  Message message;
  if (!buffer.Dump(&slices).ok()) return absl::InternalError("an answer without bytes");
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  if (!message.ParseFromString(bytes)) return absl::InternalError("not the message expected");
  return message;
}

std::string SmallBlob(const LoadOptions& options, uint64_t index) {
  return MakeContent(options.kind, options.seed << 32 | index, kSmallBlob);
}

std::vector<cas::Digest> StoredDigests(const LoadOptions& options) {
  std::vector<cas::Digest> digests;
  for (int i = 0; i < options.stored; ++i) digests.push_back(cas::DigestOf(SmallBlob(options, i)));
  return digests;
}

class FindLoad : public Load {
 public:
  FindLoad(const LoadOptions& options, int missing) : missing_(missing) {
    const std::vector<cas::Digest> stored = StoredDigests(options);
    Numbers numbers(options.seed + 77);
    for (int i = 0; i < std::min(options.operations, kDifferentRequests); ++i) {
      reapi::FindMissingBlobsRequest request;
      for (int d = 0; d < kDigestsPerFind; ++d) {
        const uint64_t number = numbers.Next();
        *request.add_blob_digests() = d < missing ? cas::DigestOf(absl::StrCat("missing ", number))
                                                  : stored[number % stored.size()];
      }
      requests_.push_back(ToBuffer(request));
    }
  }

  absl::StatusOr<int64_t> Run(int operation, Connection& connection) const override {
    ASSIGN_OR_RETURN(const grpc::ByteBuffer answer,
                     connection.Call(absl::StrCat(kCas, "FindMissingBlobs"),
                                     requests_[operation % requests_.size()]));
    ASSIGN_OR_RETURN(const auto response, FromBuffer<reapi::FindMissingBlobsResponse>(answer));
    if (response.missing_blob_digests_size() == missing_) return 0;
    return absl::DataLossError(
        absl::StrCat(response.missing_blob_digests_size(), " are missing, not ", missing_));
  }

 private:
  const int missing_;
  std::vector<grpc::ByteBuffer> requests_;
};

class UpdateLoad : public Load {
 public:
  explicit UpdateLoad(const LoadOptions& options) {
    for (int i = 0; i < options.operations; ++i) {
      reapi::BatchUpdateBlobsRequest request;
      for (int b = 0; b < kBlobsPerBatch; ++b) {
        auto* blob = request.add_requests();
        blob->set_data(SmallBlob(options, static_cast<uint64_t>(i) * kBlobsPerBatch + b));
        *blob->mutable_digest() = cas::DigestOf(blob->data());
      }
      requests_.push_back(ToBuffer(request));
    }
  }

  absl::StatusOr<int64_t> Run(int operation, Connection& connection) const override {
    ASSIGN_OR_RETURN(const grpc::ByteBuffer answer,
                     connection.Call(absl::StrCat(kCas, "BatchUpdateBlobs"), requests_[operation]));
    ASSIGN_OR_RETURN(const auto response, FromBuffer<reapi::BatchUpdateBlobsResponse>(answer));
    int stored = 0;
    for (const auto& one : response.responses()) stored += one.status().code() == 0;
    if (stored == kBlobsPerBatch) return int64_t{kBlobsPerBatch} * kSmallBlob;
    return absl::DataLossError(absl::StrCat("stored ", stored, " of a batch"));
  }

 private:
  std::vector<grpc::ByteBuffer> requests_;
};

class ReadLoad : public Load {
 public:
  explicit ReadLoad(const LoadOptions& options) {
    const std::vector<cas::Digest> stored = StoredDigests(options);
    Numbers numbers(options.seed + 99);
    for (int i = 0; i < std::min(options.operations, kDifferentRequests); ++i) {
      // A run of neighbours and a few from afar would flatter whoever stores batches together.
      reapi::BatchReadBlobsRequest request;
      for (int b = 0; b < kBlobsPerBatch; ++b) {
        *request.add_digests() = stored[numbers.Next() % stored.size()];
      }
      requests_.push_back(ToBuffer(request));
    }
  }

  absl::StatusOr<int64_t> Run(int operation, Connection& connection) const override {
    ASSIGN_OR_RETURN(const grpc::ByteBuffer answer,
                     connection.Call(absl::StrCat(kCas, "BatchReadBlobs"),
                                     requests_[operation % requests_.size()]));
    constexpr int64_t kContent = int64_t{kBlobsPerBatch} * kSmallBlob;
    if (operation < 16) RETURN_IF_ERROR(Check(answer));
    if (static_cast<int64_t>(answer.Length()) > kContent) return kContent;
    return absl::DataLossError(absl::StrCat("an answer of ", answer.Length(), " bytes"));
  }

 private:
  // The first few answers are looked at closely; of the others the size says enough.
  static absl::Status Check(const grpc::ByteBuffer& answer) {
    ASSIGN_OR_RETURN(const auto response, FromBuffer<reapi::BatchReadBlobsResponse>(answer));
    for (const auto& one : response.responses()) {
      if (!cas::SameDigest(cas::DigestOf(one.data()), one.digest())) {
        return absl::DataLossError(absl::StrCat("wrong content for ", cas::ToString(one.digest())));
      }
    }
    return absl::OkStatus();
  }

  std::vector<grpc::ByteBuffer> requests_;
};

// The message `head`, to which `data` is appended as its field 10 without being copied.
grpc::ByteBuffer WithData(const bytestream::WriteRequest& head, grpc::Slice data) {
  std::string bytes = head.SerializeAsString();
  bytes.push_back(10 << 3 | 2);
  for (size_t rest = data.size(); rest > 0; rest >>= 7) {
    bytes.push_back(static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0)));
  }
  const grpc::Slice slices[] = {grpc::Slice(bytes), std::move(data)};
  return grpc::ByteBuffer(slices, 2);
}

class WriteLoad : public Load {
 public:
  explicit WriteLoad(const LoadOptions& options)
      : blobs_(options.kind, options.seed, kLargeBlob), message_bytes_(options.message_bytes) {
    for (int i = 0; i < options.operations; ++i) digests_.push_back(blobs_.GetDigest(i));
  }

  absl::StatusOr<int64_t> Run(int operation, Connection& connection) const override {
    std::vector<grpc::ByteBuffer> messages;
    bytestream::WriteRequest head;
    head.set_resource_name(absl::StrCat("uploads/00000000-0000-4000-8000-", operation, "/blobs/",
                                        cas::ToString(digests_[operation])));
    const std::string tail = blobs_.Tail(operation);
    for (size_t offset = 0; offset < blobs_.body().size(); offset += message_bytes_) {
      const absl::string_view piece = blobs_.body().substr(offset, message_bytes_);
      head.set_write_offset(static_cast<int64_t>(offset));
      messages.push_back(
          WithData(head, grpc::Slice(piece.data(), piece.size(), grpc::Slice::STATIC_SLICE)));
      head.clear_resource_name();
    }
    head.set_write_offset(static_cast<int64_t>(blobs_.body().size()));
    head.set_finish_write(true);
    messages.push_back(WithData(head, grpc::Slice(tail)));
    ASSIGN_OR_RETURN(const grpc::ByteBuffer answer,
                     connection.Send(absl::StrCat(kStream, "Write"), messages));
    ASSIGN_OR_RETURN(const auto response, FromBuffer<bytestream::WriteResponse>(answer));
    if (response.committed_size() == kLargeBlob) return kLargeBlob;
    return absl::DataLossError(absl::StrCat("committed ", response.committed_size()));
  }

 private:
  const LargeBlobs blobs_;
  const size_t message_bytes_;
  std::vector<cas::Digest> digests_;
};

class StreamLoad : public Load {
 public:
  explicit StreamLoad(const LoadOptions& options) {
    const LargeBlobs blobs(options.kind, options.seed, kLargeBlob);
    for (int i = 0; i < options.stored; ++i) {
      bytestream::ReadRequest request;
      request.set_resource_name(absl::StrCat("blobs/", cas::ToString(blobs.GetDigest(i))));
      requests_.push_back(ToBuffer(request));
    }
  }

  absl::StatusOr<int64_t> Run(int operation, Connection& connection) const override {
    ASSIGN_OR_RETURN(
        const int64_t bytes,
        connection.Receive(absl::StrCat(kStream, "Read"), requests_[operation % requests_.size()]));
    if (bytes > kLargeBlob) return kLargeBlob;
    return absl::DataLossError(absl::StrCat("a stream of ", bytes, " bytes"));
  }

 private:
  std::vector<grpc::ByteBuffer> requests_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Load>> MakeLoad(const std::string& name,
                                               const LoadOptions& options) {
  if (name == "find") return std::make_unique<FindLoad>(options, 0);
  if (name == "find-half") return std::make_unique<FindLoad>(options, kDigestsPerFind / 2);
  if (name == "update") return std::make_unique<UpdateLoad>(options);
  if (name == "read") return std::make_unique<ReadLoad>(options);
  if (name == "write") return std::make_unique<WriteLoad>(options);
  if (name == "stream") return std::make_unique<StreamLoad>(options);
  return absl::InvalidArgumentError(absl::StrCat("no load ", name));
}

}  // namespace kernelmill::bench
