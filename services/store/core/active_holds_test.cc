#include "services/store/core/active_holds.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "common/testing/status_matchers.h"
#include "services/store/core/testing/memory_storage.h"

namespace kernelmill::store {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

class ActiveHoldsTest : public ::testing::Test {
 protected:
  MemoryStorage storage_;
  absl::Duration now_ = absl::Hours(1);
  ActiveHolds holds_{&storage_, [this] { return now_; }};
};

TEST_F(ActiveHoldsTest, NamesCountsAndTimesAreChecked) {
  EXPECT_THAT(holds_.Hold({.name = ""}, 1), StatusIs(kInvalid));
  EXPECT_THAT(holds_.Hold({.name = "two words"}, 1), StatusIs(kInvalid));
  EXPECT_THAT(holds_.Hold({.name = "line\n"}, 1), StatusIs(kInvalid));
  EXPECT_THAT(holds_.Hold({.name = std::string(257, 'x')}, 1), StatusIs(kInvalid));
  EXPECT_THAT(holds_.Hold({.name = "x", .ttl_ms = -1}, 1), StatusIs(kInvalid));
  EXPECT_THAT(holds_.Hold({.name = "x", .blobs = std::vector<BlobId>(100'001)}, 1),
              StatusIs(kInvalid));
  EXPECT_THAT(holds_.Hold({.name = std::string(256, 'x')}, 1), IsOk());
  EXPECT_EQ(holds_.size(), 1u);
}

TEST_F(ActiveHoldsTest, TheNumberOfHoldsIsBounded) {
  for (int i = 0; i < 10'000; ++i) ASSERT_THAT(holds_.Hold({.name = absl::StrCat(i)}, 1), IsOk());
  EXPECT_THAT(holds_.Hold({.name = "more"}, 1), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(holds_.Hold({.name = "77"}, 1), IsOk());  // renewing needs no room
}

TEST_F(ActiveHoldsTest, ATimeIsOverOnceAndRenewedBefore) {
  ASSERT_THAT(holds_.Hold({.name = "short", .ttl_ms = 1000}, 1), IsOk());
  ASSERT_THAT(holds_.Hold({.name = "for-ever"}, 1), IsOk());
  now_ += absl::Milliseconds(900);
  ASSERT_THAT(holds_.Hold({.name = "short", .ttl_ms = 1000}, 1), IsOk());
  now_ += absl::Milliseconds(900);
  ASSERT_THAT(holds_.Expire(), IsOk());
  EXPECT_EQ(holds_.size(), 2u);
  now_ += absl::Milliseconds(100);
  ASSERT_THAT(holds_.Expire(), IsOk());
  ASSERT_EQ(holds_.size(), 1u);
  EXPECT_EQ(holds_.List()[0].record.name, "for-ever");
  EXPECT_EQ(holds_.List()[0].left, absl::InfiniteDuration());
}

TEST_F(ActiveHoldsTest, HoldsSurviveAndTheirTimesStartAnew) {
  ASSERT_THAT(holds_.Hold({.name = "job", .everything_used_from_now = true, .ttl_ms = 1000}, 7),
              IsOk());
  now_ += absl::Milliseconds(900);
  ActiveHolds later(&storage_, [this] { return now_; });
  ASSERT_THAT(later.Load(), IsOk());
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later.HeldSince(), 7u);
  EXPECT_EQ(later.List()[0].left, absl::Seconds(1));
  ASSERT_THAT(later.Release("job"), IsOk());
  ASSERT_THAT(later.Release("job"), IsOk());
  ActiveHolds last(&storage_, [this] { return now_; });
  ASSERT_THAT(last.Load(), IsOk());
  EXPECT_EQ(last.size(), 0u);
}

TEST_F(ActiveHoldsTest, TheOldestHoldOfUsesCounts) {
  EXPECT_EQ(holds_.HeldSince(), kNoEpoch);
  ASSERT_THAT(holds_.Hold({.name = "plain"}, 1), IsOk());
  EXPECT_EQ(holds_.HeldSince(), kNoEpoch);
  ASSERT_THAT(holds_.Hold({.name = "b", .everything_used_from_now = true}, 5), IsOk());
  ASSERT_THAT(holds_.Hold({.name = "a", .everything_used_from_now = true}, 3), IsOk());
  EXPECT_EQ(holds_.HeldSince(), 3u);
  ASSERT_THAT(holds_.Release("a"), IsOk());
  EXPECT_EQ(holds_.HeldSince(), 5u);
}

TEST_F(ActiveHoldsTest, AHoldThatHoldsAllUsesDoesSoAcrossARestart) {
  ASSERT_THAT(holds_.Hold({.name = "a", .everything_used_from_now = true}, 3), IsOk());
  holds_.HoldAllUses();
  EXPECT_EQ(holds_.HeldSince(), 0u);
  ASSERT_THAT(holds_.SaveChanged(), IsOk());
  ASSERT_THAT(holds_.Hold({.name = "a", .everything_used_from_now = true}, 9), IsOk());
  ActiveHolds later(&storage_, [this] { return now_; });
  ASSERT_THAT(later.Load(), IsOk());
  EXPECT_EQ(later.HeldSince(), 0u);
}

}  // namespace
}  // namespace kernelmill::store
