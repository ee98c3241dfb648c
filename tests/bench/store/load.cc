#include "tests/bench/store/load.h"

#include <grpcpp/support/slice.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/cas/digest.h"
#include "google/bytestream/bytestream.pb.h"

namespace kernelmill::bench {
namespace {

// Words of kernels. Text made of them compresses to about a fifth, as source code does.
constexpr std::array<absl::string_view, 24> kWords = {
    "tl.load", "tl.store",  "offsets", "mask",      "pid",    "BLOCK_SIZE",    "=",
    "+",       "*",         "(",       ")",         "\n    ", "x_ptr",         "y_ptr",
    "n",       "tl.arange", "tl.sum",  "other=0.0", "stride", "tl.program_id", "acc",
    "tl.dot",  "return",    ","};

// Makes bytes that do not compress.
std::string RandomBytes(uint64_t seed, size_t size) {
  Numbers numbers(seed);
  std::string bytes((size + 7) / 8 * 8, '\0');
  for (size_t i = 0; i < bytes.size(); i += 8) {
    const uint64_t number = numbers.Next();
    std::memcpy(&bytes[i], &number, 8);
  }
  bytes.resize(size);
  return bytes;
}

std::string SourceText(uint64_t seed, size_t size) {
  Numbers numbers(seed);
  std::string text;
  text.reserve(size + 32);
  while (text.size() < size) {
    const uint64_t number = numbers.Next();
    absl::StrAppend(&text, kWords[number % kWords.size()], " ");
    if (number >> 60 == 0) absl::StrAppend(&text, number >> 40, " ");
  }
  text.resize(size);
  return text;
}

}  // namespace

Numbers::Numbers(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}

uint64_t Numbers::Next() {  // splitmix64
  uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::string MakeContent(Kind kind, uint64_t seed, size_t size) {
  return kind == Kind::kRandom ? RandomBytes(seed, size) : SourceText(seed, size);
}

LargeBlobs::LargeBlobs(Kind kind, uint64_t seed, size_t size)
    : seed_(seed), body_(MakeContent(kind, seed, size - kTail)) {}

std::string LargeBlobs::Tail(uint64_t index) const {
  std::string tail = absl::StrCat("seed ", seed_, " blob ", index, " ");
  tail.resize(kTail, '.');
  return tail;
}

cas::Digest LargeBlobs::GetDigest(uint64_t index) const {
  Sha256Stream hash;
  hash.Update(body_);
  hash.Update(Tail(index));
  cas::Digest digest;
  digest.set_hash(hash.FinishHex());
  digest.set_size_bytes(static_cast<int64_t>(size()));
  return digest;
}

namespace {

namespace reapi = ::build::bazel::remote::execution::v2;
namespace bytestream = ::google::bytestream;

constexpr char kCas[] = "/build.bazel.remote.execution.v2.ContentAddressableStorage/";
constexpr char kStream[] = "/google.bytestream.ByteStream/";

// The number of requests of a reading load. More operations repeat them.
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
  for (int i = 0; i < options.stored; ++i)
    digests.push_back(cas::ComputeDigest(SmallBlob(options, i)));
  return digests;
}

// Asks which blobs are missing: none of them, or half.
class FindLoad : public Load {
 public:
  FindLoad(const LoadOptions& options, int missing) : missing_(missing) {
    const std::vector<cas::Digest> stored = StoredDigests(options);
    Numbers numbers(options.seed + 77);
    for (int i = 0; i < std::min(options.operations, kDifferentRequests); ++i) {
      reapi::FindMissingBlobsRequest request;
      for (int d = 0; d < kDigestsPerFind; ++d) {
        const uint64_t number = numbers.Next();
        *request.add_blob_digests() = d < missing
                                          ? cas::ComputeDigest(absl::StrCat("missing ", number))
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

// Stores batches of small blobs. Requests are made before the measurement, as in all loads, so that
// only the server's work is measured.
class UpdateLoad : public Load {
 public:
  explicit UpdateLoad(const LoadOptions& options) {
    for (int i = 0; i < options.operations; ++i) {
      reapi::BatchUpdateBlobsRequest request;
      for (int b = 0; b < kBlobsPerBatch; ++b) {
        auto* blob = request.add_requests();
        blob->set_data(SmallBlob(options, static_cast<uint64_t>(i) * kBlobsPerBatch + b));
        *blob->mutable_digest() = cas::ComputeDigest(blob->data());
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

// Reads batches of small blobs.
class ReadLoad : public Load {
 public:
  explicit ReadLoad(const LoadOptions& options) {
    const std::vector<cas::Digest> stored = StoredDigests(options);
    Numbers numbers(options.seed + 99);
    for (int i = 0; i < std::min(options.operations, kDifferentRequests); ++i) {
      // Neighbouring blobs would favour servers that store batches together.
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
  // Only the first few answers are compared; the sizes of the others are enough.
  static absl::Status Check(const grpc::ByteBuffer& answer) {
    ASSIGN_OR_RETURN(const auto response, FromBuffer<reapi::BatchReadBlobsResponse>(answer));
    for (const auto& one : response.responses()) {
      if (!cas::SameDigest(cas::ComputeDigest(one.data()), one.digest())) {
        return absl::DataLossError(absl::StrCat("wrong content for ", cas::ToString(one.digest())));
      }
    }
    return absl::OkStatus();
  }

  std::vector<grpc::ByteBuffer> requests_;
};

// Makes the message `head` with `data` as its field 10, without copying the data.
grpc::ByteBuffer WithData(const bytestream::WriteRequest& head, grpc::Slice data) {
  std::string bytes = head.SerializeAsString();
  bytes.push_back(10 << 3 | 2);
  for (size_t rest = data.size(); rest > 0; rest >>= 7) {
    bytes.push_back(static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0)));
  }
  const grpc::Slice slices[] = {grpc::Slice(bytes), std::move(data)};
  return grpc::ByteBuffer(slices, 2);
}

// Writes large blobs as streams. All share one body and differ in their tail, so that many blobs
// need little memory.
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

// Reads large blobs as streams.
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
