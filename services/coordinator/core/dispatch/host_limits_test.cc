#include "services/coordinator/core/dispatch/host_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Clock::Time kNow{std::chrono::hours(1)};

TEST(HostLimits, ATaskBeyondTheLimitWaitsForAPlace) {
  HostLimits limits(2);
  EXPECT_TRUE(limits.Take("a", 1, kNow));
  EXPECT_TRUE(limits.Take("a", 2, kNow));
  EXPECT_FALSE(limits.Take("a", 3, kNow));
  EXPECT_FALSE(limits.Take("a", 4, kNow));
  EXPECT_TRUE(limits.Take("b", 5, kNow));
  EXPECT_THAT(limits.TakeRunnable(kNow), IsEmpty());
  limits.Release("a");
  EXPECT_THAT(limits.TakeRunnable(kNow), ElementsAre(3));
  EXPECT_TRUE(limits.Take("a", 3, kNow));
  limits.Release("a");
  limits.Release("a");
  EXPECT_THAT(limits.TakeRunnable(kNow), ElementsAre(4));
}

TEST(HostLimits, TheWaitingTasksOfAJobAreForgotten) {
  HostLimits limits(1);
  EXPECT_TRUE(limits.Take("a", TaskId(1, 1), kNow));
  for (const uint64_t task : {TaskId(1, 2), TaskId(2, 2), TaskId(1, 3)}) {
    EXPECT_FALSE(limits.Take("a", task, kNow));
  }
  EXPECT_FALSE(limits.Take("a", TaskId(1, 4), kNow));
  limits.Drop(1);
  limits.Release("a");
  EXPECT_THAT(limits.TakeRunnable(kNow), ElementsAre(TaskId(2, 2)));
  EXPECT_THAT(limits.TakeRunnable(kNow), IsEmpty());
}

TEST(HostLimits, NoHostAndNoLimitNeverWait) {
  HostLimits limits(1);
  EXPECT_TRUE(limits.Take("", 1, kNow));
  EXPECT_TRUE(limits.Take("", 2, kNow));
  HostLimits none(0);
  EXPECT_TRUE(none.Take("a", 1, kNow));
  EXPECT_TRUE(none.Take("a", 2, kNow));
}

TEST(HostLimits, AHostLeavesSlotsForOthers) {
  struct Case {
    int limit;
    int64_t slots;
    int places;
  };
  for (const Case& c : {Case{0, 2, 1},
                        {4, 2, 1},
                        {4, 3, 2},
                        {4, 4, 3},
                        {4, 16, 4},
                        {0, 16, 12},
                        {2, 1, 2},
                        {2, 0, 2}}) {
    HostLimits limits(c.limit);
    limits.SetSlots(c.slots);
    int taken = 0;
    while (limits.Take("a", taken, kNow)) ++taken;
    EXPECT_EQ(taken, c.places) << c.limit << " " << c.slots;
    EXPECT_TRUE(limits.Take("b", 100, kNow));
  }
}

TEST(HostLimits, MoreSlotsMakeWaitingTasksRunnable) {
  HostLimits limits(4);
  limits.SetSlots(2);
  for (const uint64_t task : {1, 2, 3, 4}) limits.Take("a", task, kNow);
  EXPECT_THAT(limits.TakeRunnable(kNow), IsEmpty());
  limits.SetSlots(4);
  EXPECT_THAT(limits.TakeRunnable(kNow), ElementsAre(2, 3));
}

TEST(HostLimits, AHostIsLeftAloneAsLongAsItWishes) {
  for (const int limit : {0, 2}) {
    HostLimits limits(limit);
    EXPECT_TRUE(limits.Take("a", 1, kNow));
    limits.Pause("a", kNow + std::chrono::seconds(60));
    limits.Pause("a", kNow + std::chrono::seconds(30));
    limits.Release("a");
    EXPECT_FALSE(limits.Take("a", 2, kNow + std::chrono::seconds(59)));
    EXPECT_TRUE(limits.Take("b", 3, kNow));
    EXPECT_THAT(limits.TakeRunnable(kNow + std::chrono::seconds(59)), IsEmpty());
    EXPECT_THAT(limits.TakeRunnable(kNow + std::chrono::seconds(60)), ElementsAre(2));
    EXPECT_TRUE(limits.Take("a", 2, kNow + std::chrono::seconds(60)));
  }
}

}  // namespace
}  // namespace kernelmill::coordinator
