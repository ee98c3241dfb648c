#include "common/base/in_order.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/testing/status_matchers.h"

namespace kernelmill {
namespace {

using ::kernelmill::testing::IsOk;

class InOrderTest : public ::testing::TestWithParam<int> {};

TEST_P(InOrderTest, ResultsAreTakenInTheirOrder) {
  std::vector<size_t> taken;
  const absl::Status status = InOrder<std::unique_ptr<size_t>>(
      GetParam(), 500, 4,
      [](size_t i) -> absl::StatusOr<std::unique_ptr<size_t>> {
        if (i % 7 == 0) absl::SleepFor(absl::Microseconds(50));
        return std::make_unique<size_t>(i * i);
      },
      [&](size_t i, std::unique_ptr<size_t> result) {
        EXPECT_EQ(*result, i * i);
        taken.push_back(i);
        return absl::OkStatus();
      });
  ASSERT_THAT(status, IsOk());
  std::vector<size_t> all(500);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(taken, all);
}

TEST_P(InOrderTest, NoMoreThanTheWindowIsUnderWay) {
  std::atomic<size_t> begun = 0;
  size_t most = 0;
  ASSERT_THAT(InOrder<int>(
                  GetParam(), 200, 5,
                  [&](size_t) -> absl::StatusOr<int> {
                    ++begun;
                    return 0;
                  },
                  [&](size_t i, int) {
                    most = std::max(most, begun.load() - i);
                    return absl::OkStatus();
                  }),
              IsOk());
  // The taken item made room, so one more may have begun.
  EXPECT_LE(most, 6u);
}

TEST_P(InOrderTest, TheFirstErrorInOrderIsTheAnswer) {
  size_t last = 0;
  const absl::Status status = InOrder<int>(
      GetParam(), 100, 8,
      [](size_t i) -> absl::StatusOr<int> {
        if (i == 40) absl::SleepFor(absl::Milliseconds(5));
        if (i >= 40) return absl::DataLossError(absl::StrCat("piece ", i));
        return 0;
      },
      [&](size_t i, int) {
        last = i;
        return absl::OkStatus();
      });
  EXPECT_EQ(status, absl::DataLossError("piece 40"));
  EXPECT_EQ(last, 39u);
}

TEST_P(InOrderTest, WhoTakesMayStopIt) {
  const absl::Status status = InOrder<int>(
      GetParam(), 1000, 8, [](size_t) -> absl::StatusOr<int> { return 0; },
      [](size_t i, int) { return i == 3 ? absl::CancelledError("enough") : absl::OkStatus(); });
  EXPECT_EQ(status, absl::CancelledError("enough"));
}

TEST_P(InOrderTest, NothingToDoIsDone) {
  EXPECT_THAT(InOrder<int>(
                  GetParam(), 0, 8, [](size_t) -> absl::StatusOr<int> { return 0; },
                  [](size_t, int) { return absl::OkStatus(); }),
              IsOk());
}

INSTANTIATE_TEST_SUITE_P(Threads, InOrderTest, ::testing::Values(1, 2, 7));

}  // namespace
}  // namespace kernelmill
