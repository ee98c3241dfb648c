#include "common/base/in_order_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/testing/status_matchers.h"

namespace kernelmill {
namespace {

using ::kernelmill::testing::IsOk;

class InOrderQueueTest : public ::testing::TestWithParam<int> {};

TEST_P(InOrderQueueTest, ResultsAreTakenInTheOrderOfThePushes) {
  std::vector<int> taken;
  InOrderQueue<std::unique_ptr<int>> queue(GetParam(), 4, [&](std::unique_ptr<int> result) {
    taken.push_back(*result);
    return absl::OkStatus();
  });
  for (int i = 0; i < 500; ++i) {
    ASSERT_THAT(queue.Push([i]() -> absl::StatusOr<std::unique_ptr<int>> {
      if (i % 7 == 0) absl::SleepFor(absl::Microseconds(50));
      return std::make_unique<int>(i);
    }),
                IsOk());
    // A drain takes all that was pushed before it.
    if (i == 100) {
      ASSERT_THAT(queue.Drain(), IsOk());
      EXPECT_EQ(taken.size(), 101u);
    }
  }
  ASSERT_THAT(queue.Drain(), IsOk());
  std::vector<int> all(500);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(taken, all);
}

TEST_P(InOrderQueueTest, NoMoreThanTheWindowIsUnderWay) {
  std::atomic<int> begun = 0;
  int taken = 0;
  int most = 0;
  InOrderQueue<int> queue(GetParam(), 5, [&](int) {
    most = std::max(most, begun.load() - taken++);
    return absl::OkStatus();
  });
  for (int i = 0; i < 200; ++i) {
    ASSERT_THAT(queue.Push([&begun]() -> absl::StatusOr<int> { return ++begun; }), IsOk());
  }
  ASSERT_THAT(queue.Drain(), IsOk());
  EXPECT_LE(most, 5);
}

TEST_P(InOrderQueueTest, TheFirstErrorInOrderIsTheAnswer) {
  int last = 0;
  InOrderQueue<int> queue(GetParam(), 8, [&](int result) {
    last = result;
    return absl::OkStatus();
  });
  for (int i = 0; i < 100; ++i) {
    const absl::Status pushed = queue.Push([i]() -> absl::StatusOr<int> {
      if (i == 40) absl::SleepFor(absl::Milliseconds(5));
      if (i >= 40) return absl::DataLossError(absl::StrCat("piece ", i));
      return i;
    });
    if (!pushed.ok()) EXPECT_EQ(pushed, absl::DataLossError("piece 40"));
  }
  EXPECT_EQ(queue.Drain(), absl::DataLossError("piece 40"));
  EXPECT_EQ(last, 39);
}

TEST_P(InOrderQueueTest, WhoTakesMayStopIt) {
  InOrderQueue<int> queue(GetParam(), 8, [](int result) {
    return result == 3 ? absl::CancelledError("enough") : absl::OkStatus();
  });
  absl::Status status;
  for (int i = 0; status.ok() && i < 1000; ++i) {
    status = queue.Push([i]() -> absl::StatusOr<int> { return i; });
  }
  EXPECT_EQ(queue.Drain(), absl::CancelledError("enough"));
}

TEST_P(InOrderQueueTest, WorkThatWaitsIsGivenUpAtTheEnd) {
  std::atomic<int> taken = 0;
  InOrderQueue<int> queue(GetParam(), 8, [&](int) {
    ++taken;
    return absl::OkStatus();
  });
  for (int i = 0; i < 8; ++i) {
    ASSERT_THAT(queue.Push([]() -> absl::StatusOr<int> { return 0; }), IsOk());
  }
  EXPECT_LE(taken, 8);
}

INSTANTIATE_TEST_SUITE_P(Threads, InOrderQueueTest, ::testing::Values(1, 2, 7));

}  // namespace
}  // namespace kernelmill
