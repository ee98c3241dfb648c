#include "services/coordinator/adapters/store/owner_name.h"

#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::coordinator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

TEST(OwnerNameTest, IsMadeOnceForEachFolder) {
  const auto one = TempDir::Create();
  const auto other = TempDir::Create();
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(other, IsOk());
  const auto made = OwnerName(one->path());
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(made->size(), 8u);
  EXPECT_EQ(OwnerName(one->path()).value(), *made);
  EXPECT_NE(OwnerName(other->path()).value(), *made);
}

TEST(OwnerNameTest, IsNotMadeAnewWhereTheFileIsDamaged) {
  const auto dir = TempDir::Create();
  ASSERT_THAT(dir, IsOk());
  ASSERT_THAT(WriteFile(dir->path() + "/owner", "12345"), IsOk());
  EXPECT_THAT(OwnerName(dir->path()), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(OwnerName(dir->path() + "/none"), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace kernelmill::coordinator
