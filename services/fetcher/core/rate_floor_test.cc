#include "services/fetcher/core/rate_floor.h"

#include <gtest/gtest.h>

#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

constexpr LowestRate kRate = {.bytes_per_second = 100, .window = absl::Seconds(10)};
constexpr absl::Time kBegin = absl::UnixEpoch();

absl::Time After(int seconds) { return kBegin + absl::Seconds(seconds); }

TEST(RateFloor, AHostMayThinkForLessThanAWindow) {
  RateFloor floor(kRate, kBegin);
  EXPECT_THAT(floor.Check(0, After(9)), IsOk());
  EXPECT_THAT(floor.Check(1000, After(10)), IsOk());
  EXPECT_THAT(floor.Check(1000, After(19)), IsOk());
  EXPECT_THAT(floor.Check(2000, After(20)), IsOk());
}

TEST(RateFloor, AHostThatDribblesIsGivenUpAfterAWindow) {
  RateFloor floor(kRate, kBegin);
  EXPECT_THAT(floor.Check(99 * 9, After(9)), IsOk());
  EXPECT_THAT(floor.Check(99 * 10, After(10)), StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST(RateFloor, WhatWasSentBeforeDoesNotPayForAWindow) {
  RateFloor floor(kRate, kBegin);
  EXPECT_THAT(floor.Check(1 << 20, After(10)), IsOk());
  EXPECT_THAT(floor.Check((1 << 20) + 999, After(20)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST(RateFloor, ALateCheckAsksForMoreBytes) {
  RateFloor floor(kRate, kBegin);
  EXPECT_THAT(floor.Check(1999, After(20)), StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST(RateFloor, ZeroIsNoFloor) {
  RateFloor floor({.bytes_per_second = 0, .window = absl::Seconds(1)}, kBegin);
  EXPECT_THAT(floor.Check(0, After(1000)), IsOk());
}

}  // namespace
}  // namespace kernelmill::fetcher
