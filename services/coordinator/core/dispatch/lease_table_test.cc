#include "services/coordinator/core/dispatch/lease_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <vector>

namespace kernelmill::coordinator {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<uint64_t> Tasks(const std::vector<EndedLease>& ended) {
  std::vector<uint64_t> tasks;
  for (const EndedLease& one : ended) tasks.push_back(one.task);
  return tasks;
}

constexpr Clock::Time kNow{std::chrono::hours(1)};

TEST(LeaseTable, TokensCannotBeToldFromOneAnother) {
  LeaseTable table(seconds(30));
  std::set<uint64_t> tokens;
  uint64_t all = 0, any = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t token = table.Grant(7, kNow);
    EXPECT_NE(token, 0u);
    EXPECT_FALSE(tokens.contains(token + 1) || tokens.contains(token - 1));
    tokens.insert(token);
    any |= token;
    all |= ~token;
  }
  EXPECT_EQ(tokens.size(), 1000u);
  EXPECT_EQ(any, ~uint64_t{0}) << "each bit is set in some token";
  EXPECT_EQ(all, ~uint64_t{0}) << "and not in another";
}

TEST(LeaseTable, IsHeldByTheCallerThatItWasGrantedTo) {
  LeaseTable table(seconds(30));
  const uint64_t token = table.Grant(7, kNow, {.caller = "worker a"});
  EXPECT_TRUE(table.Holds(7, token, "worker a"));
  EXPECT_FALSE(table.Holds(7, token, "worker b"));
  EXPECT_FALSE(table.Renew(7, token, "", kNow));
  table.Restore(8, token, kNow);
  EXPECT_TRUE(table.Holds(8, token, "worker b")) << "the worker from before a restart is not known";
}

TEST(LeaseTable, OnlyTheLastTokenHolds) {
  LeaseTable table(seconds(30));
  const uint64_t old = table.Grant(7, kNow);
  const uint64_t now = table.Grant(7, kNow);
  EXPECT_FALSE(table.Holds(7, old, ""));
  EXPECT_FALSE(table.Renew(7, old, "", kNow));
  EXPECT_TRUE(table.Holds(7, now, ""));
  EXPECT_EQ(table.size(), 1u);
}

TEST(LeaseTable, ExpiresAtTheDeadlineAndNotBefore) {
  LeaseTable table(seconds(30));
  const uint64_t token = table.Grant(7, kNow);
  table.Grant(8, kNow + seconds(10));
  EXPECT_THAT(Tasks(table.TakeExpired(kNow + seconds(29))), IsEmpty());
  EXPECT_THAT(Tasks(table.TakeExpired(kNow + seconds(30))), ElementsAre(7));
  EXPECT_FALSE(table.Holds(7, token, ""));
  EXPECT_THAT(Tasks(table.TakeExpired(kNow + seconds(90))), ElementsAre(8));
}

TEST(LeaseTable, RenewalCountsFromWhenItCame) {
  LeaseTable table(seconds(30));
  const uint64_t token = table.Grant(7, kNow);
  EXPECT_TRUE(table.Renew(7, token, "", kNow + seconds(20)));
  EXPECT_THAT(Tasks(table.TakeExpired(kNow + seconds(49))), IsEmpty());
  EXPECT_THAT(Tasks(table.TakeExpired(kNow + seconds(50))), ElementsAre(7));
}

TEST(LeaseTable, AReleasedLeaseDoesNotExpire) {
  LeaseTable table(seconds(30));
  table.Grant(7, kNow);
  table.Release(7);
  EXPECT_THAT(Tasks(table.TakeExpired(kNow + seconds(90))), IsEmpty());
}

TEST(LeaseTable, AWorkersLeasesEndWithIt) {
  LeaseTable table(seconds(30));
  table.Grant(7, kNow, {.worker = 1});
  table.Grant(8, kNow, {.worker = 2});
  table.Renew(9, table.Grant(9, kNow, {.worker = 1, .alone = true, .host = "h"}), "", kNow);
  const std::vector<EndedLease> ended = table.TakeByWorker(1);
  EXPECT_THAT(Tasks(ended), UnorderedElementsAre(7, 9));
  EXPECT_TRUE(ended[1].terms.alone) << "a renewal must keep the terms";
  EXPECT_EQ(ended[1].terms.host, "h");
  EXPECT_EQ(table.size(), 1u);
}

TEST(InFlightActions, FollowersOfAJobAreForgotten) {
  InFlightActions actions;
  EXPECT_TRUE(actions.Lead("a", TaskId(1, 1), StageId::kExtract));
  for (const uint64_t task : {TaskId(2, 1), TaskId(3, 1), TaskId(2, 2)}) {
    EXPECT_FALSE(actions.Lead("a", task, StageId::kExtract));
  }
  actions.Drop(2);
  EXPECT_EQ(actions.Followers(StageId::kExtract), 1);
  EXPECT_EQ(actions.End("a"), std::vector<uint64_t>{TaskId(3, 1)});
  EXPECT_EQ(actions.Followers(StageId::kExtract), 0);
}

}  // namespace
}  // namespace kernelmill::coordinator
