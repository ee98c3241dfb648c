// Tests the rules of ByteStream with raw stubs.

#include <gtest/gtest.h>
#include <zstd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "services/store/core/storage.h"
#include "services/store/server/wire_test_base.h"

namespace kernelmill::store {
namespace {

constexpr auto kOk = absl::StatusCode::kOk;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;
constexpr auto kOutOfRange = absl::StatusCode::kOutOfRange;

std::string Compress(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1));
  return out;
}

// Returns at most `limit` bytes of a frame's content.
std::string Decompress(const std::string& compressed, size_t limit) {
  std::string out(limit, '\0');
  const size_t size = ZSTD_decompress(out.data(), out.size(), compressed.data(), compressed.size());
  if (ZSTD_isError(size)) return absl::StrCat("error: ", ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

std::string Mixed(size_t size) {
  std::string bytes;
  for (uint64_t i = 0; bytes.size() < size; ++i) absl::StrAppend(&bytes, i * 2654435761u);
  bytes.resize(size);
  return bytes;
}

class ByteStreamTest : public WireTest {
 protected:
  static std::string Compressed(const std::string& bytes) {
    return absl::StrCat("compressed-blobs/zstd/", cas::ToString(cas::ComputeDigest(bytes)));
  }
  static std::string CompressedUpload(const std::string& bytes) {
    return absl::StrCat("uploads/upload-1/", Compressed(bytes));
  }
  absl::StatusCode Query(const std::string& name, bytestream::QueryWriteStatusResponse* response) {
    bytestream::QueryWriteStatusRequest request;
    request.set_resource_name(name);
    return Call(*stream_, &bytestream::ByteStream::Stub::QueryWriteStatus, request, response);
  }
  int64_t committed_ = 0;
  std::string bytes_;
};

TEST_F(ByteStreamTest, OffsetAndLimitCountBytes) {
  const std::string content = Mixed(kChunkBytes + 1000);
  ASSERT_EQ(Write({Message(UploadName(content), 0, content.substr(0, kChunkBytes), false),
                   Message("", kChunkBytes, content.substr(kChunkBytes), true)},
                  &committed_),
            kOk);
  EXPECT_EQ(committed_, static_cast<int64_t>(content.size()));
  EXPECT_EQ(Read(BlobName(content), 0, 0, &bytes_), kOk);
  EXPECT_TRUE(bytes_ == content);
  EXPECT_EQ(Read(BlobName(content), kChunkBytes - 10, 20, &bytes_), kOk);
  EXPECT_EQ(bytes_, content.substr(kChunkBytes - 10, 20));
  EXPECT_EQ(Read(BlobName(content), content.size(), 0, &bytes_), kOk);
  EXPECT_EQ(bytes_, "");
  EXPECT_EQ(Read(BlobName(content), content.size() + 1, 0, &bytes_), kOutOfRange);
  EXPECT_EQ(Read(BlobName(content), -1, 0, &bytes_), kOutOfRange);
  EXPECT_EQ(Read(BlobName(content), 0, -1, &bytes_), kInvalid);
}

TEST_F(ByteStreamTest, NamesThatAreNone) {
  EXPECT_EQ(Read("nonsense", 0, 0, &bytes_), kInvalid);
  EXPECT_EQ(Read(absl::StrCat("blobs/", cas::ComputeDigest("x").hash(), "/-1"), 0, 0, &bytes_),
            kInvalid);
  EXPECT_EQ(Read(BlobName("absent"), 0, 0, &bytes_), kNotFound);
  EXPECT_EQ(Write({Message(BlobName("abc"), 0, "abc", true)}, &committed_), kInvalid);
  EXPECT_EQ(Write({}, &committed_), kInvalid);
  EXPECT_EQ(
      Write({Message(UploadName("abc"), 0, "a", false), Message(UploadName("abd"), 1, "bc", true)},
            &committed_),
      kInvalid);
  bytestream::QueryWriteStatusResponse status;
  EXPECT_EQ(Query("nonsense", &status), kInvalid);
}

TEST_F(ByteStreamTest, TheEmptyBlobReadsAndWrites) {
  EXPECT_EQ(Read(BlobName(""), 0, 0, &bytes_), kOk);
  EXPECT_EQ(bytes_, "");
  EXPECT_EQ(Read(Compressed(""), 0, 0, &bytes_), kOk);
  EXPECT_EQ(Decompress(bytes_, 10), "");
  EXPECT_EQ(Write({Message(UploadName(""), 0, "", true)}, &committed_), kOk);
  EXPECT_EQ(committed_, 0);
}

TEST_F(ByteStreamTest, AWriteOfWhatIsThereReturnsAtOnce) {
  ASSERT_EQ(Put("content"), kOk);
  // Sent without finish_write; the answer does not wait for it.
  EXPECT_EQ(Write({Message(UploadName("content"), 0, "con", false)}, &committed_), kOk);
  EXPECT_EQ(committed_, 7);
  EXPECT_EQ(Write({Message(CompressedUpload("content"), 0, "anything", false)}, &committed_), kOk);
  EXPECT_EQ(committed_, -1);
}

TEST_F(ByteStreamTest, AnEarlyAnswerLeavesNoClientWaiting) {
  ASSERT_EQ(Put("content"), kOk);
  const std::vector<bytestream::WriteRequest> messages(
      30, Message(UploadName("content"), 0, std::string(1 << 20, 'x'), false));
  EXPECT_EQ(Write(messages, &committed_), kOk);
  EXPECT_EQ(committed_, 7);
}

TEST_F(ByteStreamTest, ABrokenWriteIsQueriedAndResumed) {
  const std::string content = Mixed(50'000);
  const std::string name = UploadName(content);
  bytestream::QueryWriteStatusResponse status;
  EXPECT_EQ(Query(name, &status), kNotFound);
  {
    grpc::ClientContext context;
    bytestream::WriteResponse response;
    const auto stream = stream_->Write(&context, &response);
    ASSERT_TRUE(stream->Write(Message(name, 0, content.substr(0, 30'000), false)));
    // The store may not have read the message yet when the connection breaks; wait until it has.
    while (Query(name, &status) != kOk || status.committed_size() == 0) {
    }
    context.TryCancel();
    EXPECT_EQ(rpc::FromGrpcStatus(stream->Finish()).code(), absl::StatusCode::kCancelled);
  }
  ASSERT_EQ(Query(name, &status), kOk);
  EXPECT_EQ(status.committed_size(), 30'000);
  EXPECT_FALSE(status.complete());
  ASSERT_EQ(Write({Message(name, 30'000, content.substr(30'000), true)}, &committed_), kOk);
  EXPECT_EQ(committed_, 50'000);
  ASSERT_EQ(Query(name, &status), kOk);
  EXPECT_TRUE(status.complete());
  EXPECT_EQ(status.committed_size(), 50'000);
  EXPECT_EQ(Read(BlobName(content), 0, 0, &bytes_), kOk);
  EXPECT_TRUE(bytes_ == content);
}

TEST_F(ByteStreamTest, WrongOffsetsAndWrongContentAreRefused) {
  EXPECT_EQ(Write({Message(UploadName("abc"), 1, "bc", true)}, &committed_), kInvalid);
  EXPECT_EQ(Write({Message(UploadName("abc"), 0, "abd", true)}, &committed_), kInvalid);
  EXPECT_EQ(Write({Message(UploadName("abc"), 0, "abcd", true)}, &committed_), kInvalid);
  EXPECT_EQ(Write({Message(UploadName("abc"), 0, "ab", true)}, &committed_), kInvalid);
  EXPECT_EQ(Read(BlobName("abc"), 0, 0, &bytes_), kNotFound);
  EXPECT_EQ(Write({Message(UploadName("abc"), 0, "abc", true)}, &committed_), kOk);
}

TEST_F(ByteStreamTest, UnknownFieldsAreIgnored) {
  bytestream::WriteRequest message = Message(UploadName("abc"), 0, "abc", true);
  message.GetReflection()->MutableUnknownFields(&message)->AddVarint(9, 1);
  message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(99, "later");
  EXPECT_EQ(Write({message}, &committed_), kOk);
  EXPECT_EQ(Read(BlobName("abc"), 0, 0, &bytes_), kOk);
  EXPECT_EQ(bytes_, "abc");
}

TEST_F(ByteStreamTest, AMessageWithoutBytesNeedsItsOffset) {
  EXPECT_EQ(
      Write({Message(UploadName("abc"), 0, "abc", false), Message("", 2, "", true)}, &committed_),
      kInvalid);
  EXPECT_EQ(
      Write({Message(UploadName("abc"), 0, "abc", false), Message("", 3, "", true)}, &committed_),
      kOk);
}

TEST_F(ByteStreamTest, ABlobOverTheLimitIsRefusedBeforeItsBytesCome) {
  const std::string name =
      absl::StrCat("uploads/u/blobs/", cas::ComputeDigest("x").hash(), "/", int64_t{1} << 40);
  EXPECT_EQ(Write({Message(name, 0, "x", false)}, &committed_), kInvalid);
}

TEST_F(ByteStreamTest, CompressedWriteAndPlainRead) {
  const std::string content = Mixed(kChunkBytes + 77);
  const std::string compressed = Compress(content);
  const size_t half = compressed.size() / 2;
  ASSERT_EQ(Write({Message(CompressedUpload(content), 0, compressed.substr(0, half), false),
                   Message("", half, compressed.substr(half), true)},
                  &committed_),
            kOk);
  EXPECT_EQ(committed_, static_cast<int64_t>(compressed.size()));
  EXPECT_EQ(Read(BlobName(content), 0, 0, &bytes_), kOk);
  EXPECT_TRUE(bytes_ == content);
}

TEST_F(ByteStreamTest, CompressedReadsHonourTheOffsetAndTakeNoLimit) {
  const std::string content = Mixed(300'000);
  ASSERT_EQ(Put(content), kOk);
  EXPECT_EQ(Read(Compressed(content), 0, 0, &bytes_), kOk);
  EXPECT_TRUE(Decompress(bytes_, content.size()) == content);
  EXPECT_EQ(Read(Compressed(content), 299'000, 0, &bytes_), kOk);
  EXPECT_TRUE(Decompress(bytes_, content.size()) == content.substr(299'000));
  EXPECT_EQ(Read(Compressed(content), 300'000, 0, &bytes_), kOk);
  EXPECT_EQ(Decompress(bytes_, 10), "");
  EXPECT_EQ(Read(Compressed(content), 300'001, 0, &bytes_), kOutOfRange);
  EXPECT_EQ(Read(Compressed(content), 0, 10, &bytes_), kInvalid);
}

TEST_F(ByteStreamTest, AZstdBombIsCutAtItsDeclaredSize) {
  const std::string bomb = Compress(std::string(256 << 20, '\0'));
  const std::string name = CompressedUpload(std::string(1000, '\0'));
  EXPECT_EQ(Write({Message(name, 0, bomb, true)}, &committed_), kInvalid);
  EXPECT_EQ(Write({Message(name, 0, "not zstd", true)}, &committed_), kInvalid);
  const std::string good = Compress(std::string(1000, '\0'));
  EXPECT_EQ(Write({Message(name, 0, good.substr(0, good.size() - 1), true)}, &committed_),
            kInvalid);
  EXPECT_EQ(Write({Message(name, 0, good, true)}, &committed_), kOk);
}

TEST_F(ByteStreamTest, EmptyFramesWithoutEndAreCutOff) {
  const std::string empty_frame = Compress("");
  std::string frames;
  while (frames.size() < (1 << 20)) frames += empty_frame;
  EXPECT_EQ(Write({Message(CompressedUpload("abc"), 0, frames, true)}, &committed_), kInvalid);
}

}  // namespace
}  // namespace kernelmill::store
