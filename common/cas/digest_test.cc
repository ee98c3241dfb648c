#include "common/cas/digest.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::cas {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

TEST(Digest, KnownAnswer) {
  EXPECT_EQ(ToString(ComputeDigest("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad/3");
}

TEST(Digest, HashAndSizeBothCount) {
  Digest other = ComputeDigest("abc");
  EXPECT_TRUE(SameDigest(other, ComputeDigest("abc")));
  other.set_size_bytes(4);
  EXPECT_FALSE(SameDigest(other, ComputeDigest("abc")));
}

TEST(Digest, IsReadAsItIsWritten) {
  const std::string text = ToString(ComputeDigest("abc"));
  const absl::StatusOr<Digest> digest = ParseDigest(text);
  ASSERT_THAT(digest, IsOk());
  EXPECT_TRUE(SameDigest(*digest, ComputeDigest("abc")));
  for (const std::string& bad : {std::string("abc"), text.substr(0, 64), text + "x", "x" + text,
                                 text.substr(0, 65) + "-3", std::string()}) {
    EXPECT_THAT(ParseDigest(bad), StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
  }
}

TEST(Digest, OnlyLowercaseHexOfTheRightLengthPasses) {
  Digest digest = ComputeDigest("abc");
  EXPECT_THAT(CheckDigest(digest), IsOk());
  for (const std::string& bad : {std::string(), std::string(63, 'a'), std::string(65, 'a'),
                                 std::string(64, 'A'), std::string(64, 'g')}) {
    digest.set_hash(bad);
    EXPECT_THAT(CheckDigest(digest), StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
  }
}

}  // namespace
}  // namespace kernelmill::cas
