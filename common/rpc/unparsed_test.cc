#include "common/rpc/unparsed.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "common/testing/status_matchers.h"
#include "google/bytestream/bytestream.pb.h"

namespace kernelmill::rpc {
namespace {

using ::google::bytestream::WriteRequest;
using ::kernelmill::testing::StatusIs;

// Makes a message that arrived in parts of `size` bytes.
grpc::ByteBuffer Arrived(const std::string& bytes, size_t size) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += size) slices.emplace_back(bytes.substr(at, size));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

TEST(UnparsedTest, TheBytesOfAFieldStayInTheirParts) {
  WriteRequest request;
  request.set_resource_name("name");
  request.set_write_offset(7);
  request.set_data("the content of a blob");
  for (const size_t size : {1, 5, 1000}) {
    grpc::ByteBuffer message = Arrived(request.SerializeAsString(), size);
    std::vector<absl::string_view> content;
    const auto rest = TakeBytesField(message, WriteRequest::kDataFieldNumber, &content);
    ASSERT_TRUE(rest.ok()) << size;
    EXPECT_EQ(absl::StrJoin(content, ""), request.data());
    WriteRequest parsed;
    ASSERT_TRUE(parsed.ParseFromString(*rest));
    EXPECT_EQ(parsed.resource_name(), "name");
    EXPECT_EQ(parsed.write_offset(), 7);
    EXPECT_EQ(parsed.data(), "");
  }
}

TEST(UnparsedTest, TheLastOfSeveralValuesCounts) {
  WriteRequest first;
  first.set_data("first");
  WriteRequest last;
  last.set_data("last");
  grpc::ByteBuffer message = Arrived(first.SerializeAsString() + last.SerializeAsString(), 3);
  std::vector<absl::string_view> content;
  ASSERT_TRUE(TakeBytesField(message, WriteRequest::kDataFieldNumber, &content).ok());
  EXPECT_EQ(absl::StrJoin(content, ""), "last");
}

TEST(UnparsedTest, ACutMessageIsRefused) {
  WriteRequest request;
  request.set_resource_name("name");
  request.set_data("content");
  const std::string bytes = request.SerializeAsString();
  std::vector<absl::string_view> content;
  for (const size_t size : {bytes.size() - 1, bytes.size() - 7, size_t{3}, size_t{1}}) {
    grpc::ByteBuffer message = Arrived(bytes.substr(0, size), 4);
    EXPECT_THAT(TakeBytesField(message, WriteRequest::kDataFieldNumber, &content),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << size;
  }
}

}  // namespace
}  // namespace kernelmill::rpc
