// Tests the client against a server that misbehaves as real ones do. tests/contract has the tests
// with a good server.

#include "common/cas/grpc_blob_store.h"

#include <grpcpp/channel.h>
#include <grpcpp/server_context.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "common/base/file.h"
#include "common/rpc/server.h"
#include "common/rpc/status.h"
#include "common/testing/status_matchers.h"
#include "google/bytestream/bytestream.grpc.pb.h"

namespace kernelmill::cas {
namespace {

namespace reapi = ::build::bazel::remote::execution::v2;
namespace bytestream = ::google::bytestream;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

const grpc::Status kDown(grpc::StatusCode::UNAVAILABLE, "down");

// A server with faults, which tests set before the calls.
class OddServer : public reapi::ContentAddressableStorage::Service,
                  public reapi::Capabilities::Service,
                  public reapi::ActionCache::Service,
                  public bytestream::ByteStream::Service {
 public:
  grpc::Status GetCapabilities(grpc::ServerContext*, const reapi::GetCapabilitiesRequest*,
                               reapi::ServerCapabilities* response) override {
    absl::MutexLock lock(&mutex);
    ++calls["GetCapabilities"];
    if (!has_capabilities) return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "");
    response->mutable_cache_capabilities()->set_max_batch_total_size_bytes(max_batch);
    response->mutable_cache_capabilities()->add_digest_functions(function);
    return grpc::Status::OK;
  }

  grpc::Status FindMissingBlobs(grpc::ServerContext*, const reapi::FindMissingBlobsRequest* request,
                                reapi::FindMissingBlobsResponse* response) override {
    absl::MutexLock lock(&mutex);
    ++calls["FindMissingBlobs"];
    if (fail_next-- > 0) return kDown;
    most_digests = std::max(most_digests, request->blob_digests_size());
    for (int i = request->blob_digests_size(); i-- > 0;) {  // in another order
      const Digest& digest = request->blob_digests(i);
      if (blobs.count(ToString(digest)) == 0) *response->add_missing_blob_digests() = digest;
    }
    return grpc::Status::OK;
  }

  grpc::Status BatchUpdateBlobs(grpc::ServerContext*, const reapi::BatchUpdateBlobsRequest* request,
                                reapi::BatchUpdateBlobsResponse* response) override {
    absl::MutexLock lock(&mutex);
    ++calls["BatchUpdateBlobs"];
    if (fail_next-- > 0) return kDown;
    most_bytes = std::max<int64_t>(most_bytes, request->ByteSizeLong());
    for (int i = request->requests_size(); i-- > 0;) {
      const auto& blob = request->requests(i);
      ++writes[ToString(blob.digest())];
      auto* answer = response->add_responses();
      *answer->mutable_digest() = blob.digest();
      if (busy_once.erase(ToString(blob.digest())) > 0) {
        *answer->mutable_status() = rpc::ToProtoStatus(absl::ResourceExhaustedError("busy"));
      } else {
        blobs[ToString(blob.digest())] = blob.data();
      }
    }
    return grpc::Status::OK;
  }

  grpc::Status BatchReadBlobs(grpc::ServerContext*, const reapi::BatchReadBlobsRequest* request,
                              reapi::BatchReadBlobsResponse* response) override {
    absl::MutexLock lock(&mutex);
    ++calls["BatchReadBlobs"];
    if (fail_next-- > 0) return kDown;
    for (int i = request->digests_size(); i-- > 0;) {
      const Digest& digest = request->digests(i);
      if (forgets_to_answer) continue;
      auto* answer = response->add_responses();
      *answer->mutable_digest() = digest;
      if (busy_once.erase(ToString(digest)) > 0) {
        *answer->mutable_status() = rpc::ToProtoStatus(absl::UnavailableError("busy"));
      } else {
        answer->set_data(blobs[ToString(digest)]);
      }
    }
    return grpc::Status::OK;
  }

  grpc::Status GetActionResult(grpc::ServerContext*, const reapi::GetActionResultRequest* request,
                               reapi::ActionResult* result) override {
    absl::MutexLock lock(&mutex);
    ++calls["GetActionResult"];
    if (fail_next-- > 0) return kDown;
    if (moves_output && !(request->inline_stdout() && inlines)) {
      *result->mutable_stdout_digest() = ComputeDigest("output");
      return grpc::Status::OK;
    }
    if (moves_output) {
      result->set_stdout_raw("output");
      return grpc::Status::OK;
    }
    return grpc::Status(grpc::StatusCode::NOT_FOUND, request->instance_name());
  }

  grpc::Status Read(grpc::ServerContext*, const bytestream::ReadRequest* request,
                    grpc::ServerWriter<bytestream::ReadResponse>* stream) override {
    absl::MutexLock lock(&mutex);
    ++calls["Read"];
    const std::vector<std::string> words = absl::StrSplit(request->resource_name(), '/');
    const std::string& bytes = blobs[absl::StrCat(words[words.size() - 2], "/", words.back())];
    bytestream::ReadResponse piece;
    int64_t offset = request->read_offset();
    read_offsets.push_back(offset);
    const int64_t end = offset + read_piece;
    piece.set_data(bytes.substr(offset, read_piece));
    stream->Write(piece);
    return end < static_cast<int64_t>(bytes.size()) ? kDown : grpc::Status::OK;
  }

  grpc::Status Write(grpc::ServerContext*, grpc::ServerReader<bytestream::WriteRequest>* stream,
                     bytestream::WriteResponse* response) override {
    bytestream::WriteRequest request;
    bool first = true;
    while (stream->Read(&request)) {
      absl::MutexLock lock(&mutex);
      if (first) {
        ++calls["Write"];
        resource = request.resource_name();
        if (has_it_already) {
          const std::vector<std::string> words = absl::StrSplit(resource, '/');
          response->set_committed_size(std::stoll(words.back()));
          return grpc::Status::OK;
        }
        first = false;
        write_offsets.push_back(request.write_offset());
        received.resize(request.write_offset());
      }
      if (request.write_offset() != static_cast<int64_t>(received.size())) {
        return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "gap");
      }
      received += request.data();
      if (break_writes-- > 0) return kDown;
      if (request.finish_write()) {
        response->set_committed_size(received.size());
        return grpc::Status::OK;
      }
    }
    return kDown;
  }

  grpc::Status QueryWriteStatus(grpc::ServerContext*,
                                const bytestream::QueryWriteStatusRequest* request,
                                bytestream::QueryWriteStatusResponse* response) override {
    absl::MutexLock lock(&mutex);
    ++calls["QueryWriteStatus"];
    if (forgets_uploads || request->resource_name() != resource) {
      return grpc::Status(grpc::StatusCode::NOT_FOUND, "no such upload");
    }
    response->set_committed_size(received.size());
    return grpc::Status::OK;
  }

  absl::Mutex mutex;
  std::map<std::string, int> calls;
  std::map<std::string, std::string> blobs;
  std::map<std::string, int> writes;
  std::map<std::string, int> busy_once;  // a blob that is refused the first time
  int fail_next = 0;                     // unary calls
  int break_writes = 0;                  // streams, after their first message
  bool has_capabilities = true;
  int64_t max_batch = 0;
  reapi::DigestFunction::Value function = reapi::DigestFunction::SHA256;
  bool forgets_to_answer = false;
  bool forgets_uploads = false;
  bool has_it_already = false;
  bool moves_output = false;     // holds a result whose output it made a blob of
  bool inlines = false;          // and puts it back where it is asked to
  int64_t read_piece = 1 << 20;  // a read breaks after so many bytes
  int most_digests = 0;
  int64_t most_bytes = 0;
  std::vector<int64_t> read_offsets;
  std::vector<int64_t> write_offsets;
  std::string resource;
  std::string received;
};

class GrpcBlobStoreTest : public ::testing::Test {
 protected:
  GrpcBlobStoreTest() {
    rpc::Server::Options options;
    options.address = Address();
    server_ = *rpc::Server::Start(options,
                                  {static_cast<reapi::ContentAddressableStorage::Service*>(&odd_),
                                   static_cast<reapi::Capabilities::Service*>(&odd_),
                                   static_cast<reapi::ActionCache::Service*>(&odd_),
                                   static_cast<bytestream::ByteStream::Service*>(&odd_)});
  }
  std::unique_ptr<BlobStore> Client(const std::string& instance = "") {
    GrpcBlobStoreOptions options;
    options.instance_name = instance;
    options.retry.max_attempts = 4;
    options.sleep = [this](absl::Duration) {
      ++sleeps_;
      return absl::OkStatus();
    };
    return NewGrpcBlobStore(rpc::Connect(Address()), options);
  }
  // A socket: gRPC 1.51's in-process transport hangs when a server answers a stream before its end.
  std::string Address() const { return absl::StrCat("unix:", sockets_.path(), "/server"); }
  static Blob MakeBlob(std::string bytes) { return {ComputeDigest(bytes), std::move(bytes)}; }
  Digest Held(const std::string& bytes) {
    odd_.blobs[ToString(ComputeDigest(bytes))] = bytes;
    return ComputeDigest(bytes);
  }

  TempDir sockets_ = *TempDir::Create();
  OddServer odd_;
  std::unique_ptr<rpc::Server> server_;
  int sleeps_ = 0;
};

TEST_F(GrpcBlobStoreTest, AServerThatComesBackIsTriedAgain) {
  odd_.fail_next = 3;
  EXPECT_EQ(Client()->FindMissing({ComputeDigest("x")})->size(), 1u);
  EXPECT_EQ(sleeps_, 3);
  odd_.fail_next = 4;
  EXPECT_THAT(Client()->FindMissing({ComputeDigest("x")}),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(GrpcBlobStoreTest, AMissIsNotTriedAgain) {
  const auto result = Client("team")->GetActionResult(ComputeDigest("action"));
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_NE(result.status().message().find("team"), absl::string_view::npos);
  EXPECT_EQ(odd_.calls["GetActionResult"], 1);
}

TEST_F(GrpcBlobStoreTest, OutputThatTheServerMovedToABlobIsPutBack) {
  odd_.moves_output = true;
  odd_.inlines = true;
  EXPECT_EQ(Client()->GetActionResult(ComputeDigest("action"))->stdout_raw(), "output");
  EXPECT_EQ(odd_.calls["BatchReadBlobs"], 0);
  odd_.inlines = false;
  odd_.blobs[ToString(ComputeDigest("output"))] = "output";
  EXPECT_EQ(Client()->GetActionResult(ComputeDigest("action"))->stdout_raw(), "output");
  EXPECT_EQ(odd_.calls["BatchReadBlobs"], 1);
}

TEST_F(GrpcBlobStoreTest, QuestionsAreAskedInPortions) {
  std::vector<Digest> digests;
  for (int i = 0; i < 5'001; ++i) digests.push_back(ComputeDigest(absl::StrCat(i)));
  EXPECT_EQ(Client()->FindMissing(digests)->size(), 5'001u);
  EXPECT_EQ(odd_.calls["FindMissingBlobs"], 3);
  EXPECT_EQ(odd_.most_digests, 2'000);
}

TEST_F(GrpcBlobStoreTest, BatchesKeepToTheServersLimit) {
  odd_.max_batch = 10'000;
  std::vector<Blob> blobs;
  for (int i = 0; i < 40; ++i) blobs.push_back(MakeBlob(absl::StrCat(i, std::string(900, 'x'))));
  const auto client = Client();
  ASSERT_THAT(client->Put(blobs), IsOk());
  EXPECT_LE(odd_.most_bytes, 10'000);
  EXPECT_EQ(odd_.calls["GetCapabilities"], 1);
  EXPECT_EQ(odd_.blobs.size(), 40u);
  ASSERT_THAT(client->Put({MakeBlob(std::string(10'000, 'y'))}), IsOk());  // as a stream
  EXPECT_EQ(odd_.calls["Write"], 1);
}

TEST_F(GrpcBlobStoreTest, NoMessageReachesGrpcsDefaultLimit) {
  std::vector<Blob> blobs;
  for (int i = 0; i < 40'000; ++i) blobs.push_back(MakeBlob(absl::StrCat("tiny ", i)));
  for (int i = 0; i < 12; ++i) blobs.push_back(MakeBlob(std::string((1 << 20) + i, 'x')));
  ASSERT_THAT(Client()->Put(blobs), IsOk());
  EXPECT_LT(odd_.most_bytes, 4 << 20);
  EXPECT_GT(odd_.most_bytes, 3 << 20);  // but they are well filled
}

TEST_F(GrpcBlobStoreTest, AServerWithoutCapabilitiesWillDo) {
  odd_.has_capabilities = false;
  EXPECT_THAT(Client()->Put({MakeBlob("x")}), IsOk());
}

TEST_F(GrpcBlobStoreTest, AServerWithoutSha256WillNot) {
  odd_.function = reapi::DigestFunction::BLAKE3;
  EXPECT_THAT(Client()->Put({MakeBlob("x")}), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(GrpcBlobStoreTest, OnlyTheBlobsThatFailedAreSentAgain) {
  odd_.busy_once[ToString(ComputeDigest("busy"))] = 1;
  ASSERT_THAT(Client()->Put({MakeBlob("a"), MakeBlob("busy"), MakeBlob("b")}), IsOk());
  EXPECT_EQ(odd_.writes[ToString(ComputeDigest("a"))], 1);
  EXPECT_EQ(odd_.writes[ToString(ComputeDigest("busy"))], 2);
  odd_.busy_once[ToString(ComputeDigest("busy"))] = 1;
  EXPECT_EQ(*Client()->Get({ComputeDigest("a"), ComputeDigest("busy")}),
            (std::vector<std::string>{"a", "busy"}));
}

TEST_F(GrpcBlobStoreTest, WhatTheServerHasIsNotSent) {
  Held(std::string(100'000, 'x'));
  ASSERT_THAT(Client()->Put({MakeBlob(std::string(100'000, 'x')), MakeBlob("new")}), IsOk());
  EXPECT_EQ(odd_.writes.count(ToString(ComputeDigest(std::string(100'000, 'x')))), 0u);
  EXPECT_EQ(odd_.writes[ToString(ComputeDigest("new"))], 1);
}

TEST_F(GrpcBlobStoreTest, OtherBytesAreDataLoss) {
  odd_.blobs[ToString(ComputeDigest("right"))] = "wrong";
  EXPECT_THAT(Client()->Get({ComputeDigest("right")}), StatusIs(absl::StatusCode::kDataLoss));
  const std::string large(5 << 20, 'x');
  odd_.read_piece = 8 << 20;
  odd_.blobs[ToString(ComputeDigest(large))] = std::string(5 << 20, 'y');
  EXPECT_THAT(Client()->Get({ComputeDigest(large)}), StatusIs(absl::StatusCode::kDataLoss));
  odd_.blobs[ToString(ComputeDigest(large))] = large + "more";
  EXPECT_THAT(Client()->Get({ComputeDigest(large)}), StatusIs(absl::StatusCode::kDataLoss));
  odd_.blobs[ToString(ComputeDigest(large))] = large.substr(1);
  EXPECT_THAT(Client()->Get({ComputeDigest(large)}), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(GrpcBlobStoreTest, AnAnswerThatIsLeftOutIsAnError) {
  Held("x");
  odd_.forgets_to_answer = true;
  EXPECT_THAT(Client()->Get({ComputeDigest("x")}), StatusIs(absl::StatusCode::kInternal));
}

TEST_F(GrpcBlobStoreTest, ABrokenReadGoesOnWhereItBroke) {
  const std::string large(10 << 20, 'x');
  const auto contents = Client()->Get({Held(large)});
  ASSERT_THAT(contents, IsOk());
  EXPECT_TRUE(contents->front() == large);
  // It breaks more often than the policy retries, but every attempt makes progress.
  ASSERT_EQ(odd_.read_offsets.size(), 10u);
  for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(odd_.read_offsets[i], i << 20);
}

TEST_F(GrpcBlobStoreTest, ABrokenUploadGoesOnWhereItBroke) {
  std::string large(5 << 20, 'x');
  for (size_t i = 0; i < large.size(); i += 4096) large[i] = static_cast<char>(i >> 12);
  odd_.break_writes = 1;
  ASSERT_THAT(Client()->Put({MakeBlob(large)}), IsOk());
  EXPECT_EQ(odd_.calls["QueryWriteStatus"], 1);
  EXPECT_EQ(odd_.write_offsets, (std::vector<int64_t>{0, 1 << 20}));
  EXPECT_TRUE(odd_.received == large);
}

TEST_F(GrpcBlobStoreTest, AnUploadThatTheServerForgotBeginsAnew) {
  const std::string large(5 << 20, 'x');
  odd_.break_writes = 1;
  odd_.forgets_uploads = true;
  ASSERT_THAT(Client()->Put({MakeBlob(large)}), IsOk());
  EXPECT_EQ(odd_.write_offsets, (std::vector<int64_t>{0, 0}));
  EXPECT_TRUE(odd_.received == large);
}

TEST_F(GrpcBlobStoreTest, AServerThatAnswersEarlyHasTheBlobAlready) {
  odd_.has_it_already = true;
  EXPECT_THAT(Client()->Put({MakeBlob(std::string(20 << 20, 'x'))}), IsOk());
}

TEST_F(GrpcBlobStoreTest, InstanceNamesLeadTheResourceName) {
  ASSERT_THAT(Client("a/b")->Put({MakeBlob(std::string(5 << 20, 'x'))}), IsOk());
  EXPECT_EQ(odd_.resource.rfind("a/b/uploads/", 0), 0u) << odd_.resource;
}

}  // namespace
}  // namespace kernelmill::cas
