#include "services/store/core/resource_name.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::store {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::string Name() { return cas::ToString(cas::ComputeDigest("abc")); }
std::string Hash() { return cas::ComputeDigest("abc").hash(); }

TEST(ReadName, PlainAndCompressed) {
  auto name = ParseReadName(absl::StrCat("blobs/", Name()));
  ASSERT_THAT(name, IsOk());
  EXPECT_EQ(name->instance, "");
  EXPECT_EQ(name->compression, Compression::kNone);
  EXPECT_EQ(ToString(name->blob), Name());

  name = ParseReadName(absl::StrCat("compressed-blobs/zstd/", Name()));
  ASSERT_THAT(name, IsOk());
  EXPECT_EQ(name->compression, Compression::kZstd);
}

TEST(ReadName, TheInstanceMayHaveSegments) {
  const auto name = ParseReadName(absl::StrCat("a/b/c/blobs/", Name()));
  ASSERT_THAT(name, IsOk());
  EXPECT_EQ(name->instance, "a/b/c");
}

TEST(ReadName, MalformedNamesAreRefused) {
  for (const std::string& bad : {std::string(""),
                                 std::string("/"),
                                 std::string("blobs"),
                                 std::string("blobs/"),
                                 absl::StrCat("/blobs/", Name()),
                                 absl::StrCat("a//blobs/", Name()),
                                 absl::StrCat("blobs/", Name(), "/x"),
                                 absl::StrCat("blobs/", Hash()),
                                 absl::StrCat("blobs/", Hash(), "/-1"),
                                 absl::StrCat("blobs/", Hash(), "/+1"),
                                 absl::StrCat("blobs/", Hash(), "/ 1"),
                                 absl::StrCat("blobs/", Hash(), "/"),
                                 absl::StrCat("blobs/", Hash(), "/9223372036854775808"),
                                 absl::StrCat("blobs/abc/3"),
                                 absl::StrCat("blobs/", std::string(64, 'A'), "/3"),
                                 absl::StrCat("blobs/blake3/", Name()),
                                 absl::StrCat("compressed-blobs/", Name()),
                                 absl::StrCat("compressed-blobs/deflate/", Name()),
                                 absl::StrCat("actions/", Name()),
                                 absl::StrCat("operations/blobs/", Name()),
                                 absl::StrCat("uploads/u/blobs/", Name()),
                                 absl::StrCat(std::string(5000, 'a'), "/blobs/", Name()),
                                 Name()}) {
    EXPECT_THAT(ParseReadName(bad), StatusIs(kInvalid)) << bad;
  }
}

TEST(WriteName, PlainCompressedAndWithTheClientsOwnTail) {
  auto name = ParseWriteName(absl::StrCat("i/uploads/u-1/blobs/", Name()));
  ASSERT_THAT(name, IsOk());
  EXPECT_EQ(name->instance, "i");
  EXPECT_EQ(name->upload, "u-1");
  EXPECT_EQ(ToString(name->blob), Name());

  name = ParseWriteName(absl::StrCat("uploads/u/compressed-blobs/zstd/", Name(), "/dir/file.py"));
  ASSERT_THAT(name, IsOk());
  EXPECT_EQ(name->instance, "");
  EXPECT_EQ(name->compression, Compression::kZstd);
}

TEST(WriteName, MalformedNamesAreRefused) {
  for (const std::string& bad :
       {std::string("uploads"), std::string("uploads/u"), absl::StrCat("blobs/", Name()),
        absl::StrCat("uploads//blobs/", Name()), absl::StrCat("uploads/blobs/", Name()),
        absl::StrCat("uploads/u/", Name()), absl::StrCat("uploads/u/v/blobs/", Name()),
        absl::StrCat("uploads/", std::string(200, 'u'), "/blobs/", Name())}) {
    EXPECT_THAT(ParseWriteName(bad), StatusIs(kInvalid)) << bad;
  }
}

TEST(InstanceName, KeywordsAndEmptySegmentsAreRefused) {
  EXPECT_THAT(CheckInstanceName(""), IsOk());
  EXPECT_THAT(CheckInstanceName("team/project"), IsOk());
  for (const char* bad : {"blobs", "a/uploads", "actions/a", "actionResults", "operations",
                          "capabilities", "compressed-blobs", "/", "a/", "/a", "a//b"}) {
    EXPECT_THAT(CheckInstanceName(bad), StatusIs(kInvalid)) << bad;
  }
}

}  // namespace
}  // namespace kernelmill::store
