#include "client/console/progress_tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace kernelmill::client {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'000);

void AddStage(const std::string& name, int64_t total, int64_t done, v1::JobStatus* status) {
  v1::StageProgress* stage = status->add_stages();
  stage->set_stage(name);
  stage->set_total(total);
  stage->set_done(done);
  stage->set_running(1);
}

TEST(ProgressTracker, SaysRateAndTimeLeft) {
  ProgressTracker tracker;
  for (int second = 0; second <= 5; ++second) {
    v1::JobStatus status;
    AddStage("fetch", 2, 2, &status);
    AddStage("extract", 30, 10 + 2 * second, &status);
    AddStage("sign", 0, 0, &status);
    tracker.Update(status, kStart + absl::Seconds(second));
  }
  ASSERT_EQ(tracker.stages().size(), 2u);
  EXPECT_EQ(tracker.stages()[0].left, absl::ZeroDuration());
  EXPECT_EQ(tracker.stages()[1].per_second, 2);
  EXPECT_EQ(tracker.stages()[1].left, absl::Seconds(5));
  EXPECT_EQ(tracker.stages()[1].at_work, absl::Seconds(5));
}

TEST(ProgressTracker, TheTimeLeftIsUnknownWhileAnEarlierStageMakesTasks) {
  ProgressTracker tracker;
  for (int second = 0; second <= 60; ++second) {
    v1::JobStatus status;
    AddStage("fetch", 60, second, &status);
    AddStage("extract", 1 + second * 10, second * 5, &status);
    tracker.Update(status, kStart + absl::Seconds(second));
    if (second == 60) break;
    EXPECT_EQ(tracker.stages()[1].left, absl::InfiniteDuration()) << second;
  }
  EXPECT_LT(tracker.stages()[1].left, absl::Minutes(3));
}

TEST(TimeLeft, CountsDownWhileNothingFinishes) {
  TimeLeft left;
  for (int second = 0; second <= 10; ++second) {
    left.Update(second, 40, true, kStart + absl::Seconds(second));
  }
  const absl::Time then = kStart + absl::Seconds(10);
  EXPECT_EQ(left.Get(then), absl::Seconds(30));
  for (int second = 0; second < 20; ++second) {
    left.Update(10, 40, true, then + absl::Seconds(second));
    EXPECT_EQ(left.Get(then + absl::Seconds(second)), absl::Seconds(30 - second));
  }
  // It never says that the end has come before it has.
  EXPECT_EQ(left.Get(then + absl::Seconds(31)), absl::InfiniteDuration());
}

TEST(TimeLeft, ClimbsOnlyIfTheTasksAreMuchSlower) {
  TimeLeft left;
  absl::Time now = kStart;
  const auto finish = [&](int64_t from, int64_t to, absl::Duration each) {
    int climbs = 0;
    absl::Duration last = absl::InfiniteDuration();
    for (int64_t finished = from; finished <= to; ++finished) {
      now += each;
      left.Update(finished, 300, true, now);
      climbs += left.Get(now) > last ? 1 : 0;
      last = left.Get(now);
    }
    return climbs;
  };
  EXPECT_EQ(finish(0, 100, absl::Seconds(1)), 0);
  EXPECT_EQ(left.Get(now), absl::Seconds(200));
  const int climbs = finish(101, 200, absl::Seconds(4));
  EXPECT_GE(climbs, 1);
  EXPECT_LE(climbs, 6);
  EXPECT_NEAR(absl::ToDoubleSeconds(left.Get(now)), 400, 80);
  EXPECT_EQ(finish(201, 299, absl::Seconds(1)), 0);
}

// Tasks like those of compile: few at once, each of another length.
TEST(TimeLeft, OfUnevenTasksIsSmooth) {
  std::mt19937 random(7);
  TimeLeft left;
  absl::Time now = kStart;
  int climbs = 0;
  int known = 0;
  absl::Duration last = absl::InfiniteDuration();
  for (int finished = 0; finished < 200; ++finished) {
    const int seconds = std::uniform_int_distribution<int>(1, 20)(random);
    for (int second = 0; second < seconds; ++second) {
      now += absl::Seconds(1);
      left.Update(finished, 200, true, now);
      const absl::Duration shown = left.Get(now);
      climbs +=
          shown > last && last != absl::InfiniteDuration() && shown != absl::InfiniteDuration() ? 1
                                                                                                : 0;
      known += shown != absl::InfiniteDuration() ? 1 : 0;
      last = shown;
    }
  }
  EXPECT_LE(climbs, 8);
  EXPECT_GE(known, 1500);  // there are some 2000 seconds
}

}  // namespace
}  // namespace kernelmill::client
