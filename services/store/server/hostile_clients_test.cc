// Tests that clients which stall, drip, flood or send invalid requests lose their streams without
// harm to other clients.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/cas/digest.h"
#include "services/store/server/wire_test_base.h"

namespace kernelmill::store {
namespace {

using Cas = reapi::ContentAddressableStorage::Stub;

constexpr auto kOk = absl::StatusCode::kOk;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;
constexpr auto kCancelled = absl::StatusCode::kCancelled;

class HostileClientsTest : public WireTest {
 protected:
  // Serves the same store with a small stall budget and room for four streams.
  HostileClientsTest() {
    server_.reset();
    store_.reset();
    store_ = *StoreServer::Open(
        {.data_dir = dir_.path() + "/data",
         .streams = {.stall_budget = absl::Milliseconds(300), .max_streams = kMaxStreams}});
    server_ = *rpc::Server::Start({.address = address_}, store_->services());
  }

  // An upload that was begun and then stalled.
  struct Stalled {
    grpc::ClientContext context;
    bytestream::WriteResponse response;
    std::unique_ptr<grpc::ClientWriter<bytestream::WriteRequest>> stream;
  };
  std::unique_ptr<Stalled> Stall(const std::string& content, const std::string& id) {
    auto stalled = std::make_unique<Stalled>();
    stalled->stream = stream_->Write(&stalled->context, &stalled->response);
    EXPECT_TRUE(stalled->stream->Write(
        Message(UploadName(content, id), 0, content.substr(0, content.size() / 2), false)));
    return stalled;
  }

  static constexpr int kMaxStreams = 4;
  const std::string content_ = std::string(100'000, 'c');
};

TEST_F(HostileClientsTest, AStalledUploadIsEndedAndCanBeResumed) {
  const auto stalled = Stall(content_, "upload-1");
  EXPECT_EQ(rpc::FromGrpcStatus(stalled->stream->Finish()).code(), kCancelled);
  bytestream::QueryWriteStatusRequest query;
  query.set_resource_name(UploadName(content_));
  bytestream::QueryWriteStatusResponse found;
  ASSERT_EQ(Call(*stream_, &bytestream::ByteStream::Stub::QueryWriteStatus, query, &found), kOk);
  ASSERT_EQ(found.committed_size(), 50'000);
  int64_t committed = 0;
  EXPECT_EQ(
      Write({Message(UploadName(content_), 50'000, content_.substr(50'000), true)}, &committed),
      kOk);
  EXPECT_EQ(committed, 100'000);
}

TEST_F(HostileClientsTest, AnUploadThatDripsIsEnded) {
  const auto slow = Stall(content_, "upload-1");
  int64_t offset = 50'000;
  const absl::Time give_up = absl::Now() + absl::Seconds(60);
  while (absl::Now() < give_up &&
         slow->stream->Write(Message("", offset, content_.substr(offset, 1), false))) {
    ++offset;
    absl::SleepFor(absl::Milliseconds(20));
  }
  EXPECT_LT(absl::Now(), give_up);
  EXPECT_EQ(rpc::FromGrpcStatus(slow->stream->Finish()).code(), kCancelled);
}

TEST_F(HostileClientsTest, AReaderThatTakesNothingIsEnded) {
  const std::string large(64 << 20, 'l');  // more than the buffers on the way
  int64_t committed = 0;
  std::vector<bytestream::WriteRequest> messages;
  for (size_t at = 0; at < large.size(); at += 8 << 20) {
    messages.push_back(Message(at == 0 ? UploadName(large) : "", at, large.substr(at, 8 << 20),
                               at + (8 << 20) == large.size()));
  }
  // On a busy machine this client itself may be too slow; it resumes where it was stopped.
  absl::StatusCode written = kCancelled;
  for (int i = 0; i < 50 && written == kCancelled; ++i) written = Write(messages, &committed);
  ASSERT_EQ(written, kOk);
  grpc::ClientContext context;
  bytestream::ReadRequest request;
  request.set_resource_name(BlobName(large));
  const auto stream = stream_->Read(&context, request);
  bytestream::ReadResponse piece;
  ASSERT_TRUE(stream->Read(&piece));
  absl::SleepFor(absl::Seconds(2));
  size_t taken = piece.data().size();
  while (stream->Read(&piece)) taken += piece.data().size();
  EXPECT_EQ(rpc::FromGrpcStatus(stream->Finish()).code(), kCancelled);
  EXPECT_LT(taken, large.size());
}

TEST_F(HostileClientsTest, StreamsOverTheBoundAreRefusedAndOtherCallsGoOn) {
  std::vector<std::unique_ptr<Stalled>> stalled;
  for (int i = 0; i < kMaxStreams; ++i) {
    stalled.push_back(Stall(absl::StrCat(content_, i), absl::StrCat("upload-", i)));
    // Wait until the server has received it.
    bytestream::QueryWriteStatusRequest query;
    query.set_resource_name(UploadName(absl::StrCat(content_, i), absl::StrCat("upload-", i)));
    bytestream::QueryWriteStatusResponse found;
    while (found.committed_size() == 0) {
      Call(*stream_, &bytestream::ByteStream::Stub::QueryWriteStatus, query, &found);
    }
  }
  std::string bytes;
  const absl::StatusCode code = Read(BlobName("other"), 0, 0, &bytes);
  EXPECT_TRUE(code == kExhausted || code == absl::StatusCode::kNotFound) << code;  // some ended
  EXPECT_EQ(Put("other"), kOk);
  for (const auto& one : stalled) {
    EXPECT_EQ(rpc::FromGrpcStatus(one->stream->Finish()).code(), kCancelled);
  }
  // The client may learn of the end before the handler returns.
  absl::StatusCode after = kExhausted;
  for (int i = 0; i < 250 && after == kExhausted; ++i) {
    after = Read(BlobName("other"), 0, 0, &bytes);
    if (after == kExhausted) absl::SleepFor(absl::Milliseconds(20));
  }
  EXPECT_EQ(after, kOk);
  EXPECT_EQ(bytes, "other");
}

TEST_F(HostileClientsTest, AMillionDigestsThatAreNoneAreRefused) {
  reapi::FindMissingBlobsRequest find;
  reapi::BatchReadBlobsRequest read;
  reapi::BatchUpdateBlobsRequest update;
  for (int i = 0; i < 1'000'000; ++i) {
    find.add_blob_digests();
    read.add_digests()->set_size_bytes(-1);
    update.add_requests();
  }
  reapi::FindMissingBlobsResponse found;
  EXPECT_EQ(Call(*cas_, &Cas::FindMissingBlobs, find, &found), kInvalid);
  reapi::BatchReadBlobsResponse contents;
  EXPECT_EQ(Call(*cas_, &Cas::BatchReadBlobs, read, &contents), kInvalid);
  reapi::BatchUpdateBlobsResponse stored;
  EXPECT_EQ(Call(*cas_, &Cas::BatchUpdateBlobs, update, &stored), kInvalid);
  EXPECT_EQ(Put("goes on"), kOk);
}

TEST_F(HostileClientsTest, SizesAndOffsetsThatMakeNoSenseAreRefused) {
  std::string bytes;
  const std::string hash = cas::ComputeDigest("x").hash();
  for (const std::string& name :
       {absl::StrCat("blobs/", hash, "/-1"), absl::StrCat("blobs/", hash, "/99999999999999999999"),
        absl::StrCat("blobs/", hash), absl::StrCat("blobs/", std::string(1 << 20, 'a'), "/1"),
        std::string("\0/blobs", 7), std::string()}) {
    EXPECT_EQ(Read(name, 0, 0, &bytes), kInvalid) << name.substr(0, 80);
  }
  ASSERT_EQ(Put("x"), kOk);
  EXPECT_EQ(Read(BlobName("x"), INT64_MAX, 0, &bytes), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Read(BlobName("x"), INT64_MIN, 0, &bytes), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Read(BlobName("x"), 0, INT64_MIN, &bytes), kInvalid);
  EXPECT_EQ(Read(BlobName("x"), 0, INT64_MAX, &bytes), kOk);
  int64_t committed = 0;
  EXPECT_EQ(Write({Message(UploadName("yz"), INT64_MAX, "yz", true)}, &committed), kInvalid);
}

}  // namespace
}  // namespace kernelmill::store
