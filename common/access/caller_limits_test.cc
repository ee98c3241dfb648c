#include "common/access/caller_limits.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <prometheus/counter.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/access/authorizer.h"
#include "common/metrics/metrics.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::access {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;

CallerLimits::Options Watches(int64_t each, int64_t all) {
  return {"watches", {"max-watches-per-caller", each}, {"max-watches", all}, "end some"};
}

double Refusals(const std::string& limit) {
  return metrics::Counter(metrics::kLimitRefusals, {{"limit", limit}}).Value();
}

TEST(CallerLimitsTest, ACallerBeyondItsLimitIsRefusedAndOthersAreNot) {
  CallerLimits limits(Watches(2, 10));
  const double before = Refusals("max-watches-per-caller");
  const auto first = limits.Take("client a"), second = limits.Take("client a");
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  const auto third = limits.Take("client a");
  EXPECT_THAT(third, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(third.status().message(),
            "--max-watches-per-caller is 2: client a has 2 watches; end some");
  EXPECT_THAT(limits.Take("client b"), IsOk());
  EXPECT_EQ(Refusals("max-watches-per-caller"), before + 1);
}

TEST(CallerLimitsTest, AllTogetherHaveALimitToo) {
  CallerLimits limits(Watches(2, 3));
  const auto a = limits.Take("a"), b = limits.Take("b"), c = limits.Take("c");
  const auto d = limits.Take("d");
  EXPECT_THAT(d, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(d.status().message(), "--max-watches is 3: all callers have 3 watches; end some");
}

TEST(CallerLimitsTest, AmountsAreSummedAndDoNotOverflow) {
  CallerLimits limits({"bytes", {"each", 100}, {"all", 0}, ""});
  const auto most = limits.Take("a", 90);
  ASSERT_THAT(most, IsOk());
  const auto more = limits.Take("a", 11);
  EXPECT_EQ(more.status().message(), "--each is 100: a has 90 bytes, and requests 11 more");
  EXPECT_THAT(limits.Take("a", INT64_MAX), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(limits.Take("a", 10), IsOk());
}

TEST(CallerLimitsTest, APlaceIsFreeOnceItsHolderIsGone) {
  CallerLimits limits(Watches(1, 1));
  std::optional<CallerLimits::Place> place = *limits.Take("a");
  CallerLimits::Place moved = *std::move(place);
  place.reset();
  EXPECT_THAT(limits.Take("a"), StatusIs(absl::StatusCode::kResourceExhausted))
      << "a place that was moved on is held";
  moved = {};
  EXPECT_THAT(limits.Take("a"), IsOk());
}

TEST(CallerLimitsTest, APlaceCanBeWaitedForAndOthersDoNotWaitForIt) {
  CallerLimits limits(Watches(1, 2));
  std::optional<CallerLimits::Place> place = *limits.Take("a");
  EXPECT_THAT(limits.Await("a", absl::Milliseconds(20)),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(limits.Await("b", absl::ZeroDuration()), IsOk());
  std::thread waiter([&] { EXPECT_THAT(limits.Await("a", absl::Minutes(1)), IsOk()); });
  absl::SleepFor(absl::Milliseconds(20));
  place.reset();
  waiter.join();
}

TEST(CallerLimitsTest, WhatWasThereBeforeARestartCountsAndIsNotRefused) {
  CallerLimits limits(Watches(2, 2));
  std::vector<CallerLimits::Place> kept;
  for (int i = 0; i < 3; ++i) kept.push_back(limits.Keep("a"));
  EXPECT_EQ(limits.all(), 3);
  EXPECT_THAT(limits.Take("a"), StatusIs(absl::StatusCode::kResourceExhausted));
  kept.pop_back();
  EXPECT_THAT(limits.Take("a"), StatusIs(absl::StatusCode::kResourceExhausted));
  kept.pop_back();
  EXPECT_THAT(limits.Take("a"), IsOk());
}

TEST(CallerLimitsTest, CallersThatComeAndGoLeaveNothing) {
  CallerLimits limits(Watches(1, 10));
  const auto kept = limits.Take("stays");
  for (int i = 0; i < 1000; ++i) ASSERT_THAT(limits.Take(absl::StrCat("caller ", i)), IsOk());
  for (int i = 0; i < 1000; ++i) limits.Take("stays").IgnoreError();
  EXPECT_EQ(limits.callers(), 1u);
}

TEST(CallerLimitsTest, ZeroIsNoLimit) {
  CallerLimits limits(Watches(0, 0));
  std::vector<CallerLimits::Place> places;
  for (int i = 0; i < 5000; ++i) places.push_back(*limits.Take("a"));
  EXPECT_EQ(limits.all(), 5000);
}

TEST(CallerLimitsTest, ThreadsNeverHaveMoreThanTheLimit) {
  CallerLimits limits(Watches(4, 8));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&limits, t] {
      for (int i = 0; i < 2000; ++i) {
        const auto place = limits.Take(absl::StrCat("caller ", t % 3));
        EXPECT_LE(limits.all(), 8);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(limits.all(), 0);
  EXPECT_EQ(limits.callers(), 0u);
}

TEST(CallerLimitsTest, RefusalsAreCountedFromTheStart) {
  const CallerLimits limits({"things", {"max-things-per-caller", 1}, {"max-things", 1}, ""});
  EXPECT_EQ(Refusals("max-things-per-caller"), 0);
  EXPECT_EQ(Refusals("max-things"), 0);
}

TEST(HostOfPeerTest, PortsDoNotMakeOtherCallers) {
  EXPECT_EQ(HostOfPeer("ipv4:10.0.0.7:50312"), "10.0.0.7");
  EXPECT_EQ(HostOfPeer("ipv6:%5B2001:db8::1%5D:50312"), "[2001:db8::1]");
  EXPECT_EQ(HostOfPeer("ipv6:[2001:db8::1]:50312"), "[2001:db8::1]");
  EXPECT_EQ(HostOfPeer("unix:"), "unix");
  EXPECT_EQ(HostOfPeer("unix:/tmp/socket"), "unix");
  EXPECT_EQ(HostOfPeer(""), "unknown");
}

}  // namespace
}  // namespace kernelmill::access
