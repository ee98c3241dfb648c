#include "client/console/busy_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelmill::client {
namespace {

constexpr int64_t kStart = 1'700'000'000'000;

void AddSpan(const std::string& stage, const std::string& source, int64_t leased, int64_t ended,
             Timeline* timeline) {
  v1::TaskSpan span;
  span.set_stage(stage);
  span.set_source(source);
  span.set_ready_unix_ms(kStart);
  span.set_leased_unix_ms(leased == 0 ? 0 : kStart + leased);
  span.set_ended_unix_ms(ended == 0 ? 0 : kStart + ended);
  timeline->Add(span);
}

TEST(BusyTimes, TasksAtTheSameTimeCountOnce) {
  Timeline timeline;
  AddSpan("fetch", "a", 100, 1100, &timeline);
  AddSpan("fetch", "b", 600, 1600, &timeline);
  AddSpan("fetch", "b", 700, 900, &timeline);
  AddSpan("extract", "a", 2000, 2500, &timeline);
  AddSpan("pair", "", 3000, 9000, &timeline);
  AddSpan("extract", "b", 0, 0, &timeline);  // it never ran
  const BusyTimes times = SumBusyTimes(timeline);
  ASSERT_EQ(times.stages.size(), 3u);
  EXPECT_EQ(times.stages[0].name, "fetch");
  EXPECT_EQ(times.stages[0].time, absl::Milliseconds(1500));
  EXPECT_EQ(times.stages[1].time, absl::Milliseconds(500));
  EXPECT_EQ(times.stages[2].time, absl::Seconds(6));
  // A task of the whole job is of no source.
  EXPECT_EQ(times.slowest_source.name, "a");
  EXPECT_EQ(times.slowest_source.time, absl::Milliseconds(1500));
  EXPECT_EQ(times.slowest_stage.name, "fetch");
}

TEST(BusyTimes, TheWaitBetweenAttemptsIsOfItsSource) {
  Timeline timeline;
  const auto add = [&](uint64_t task, const std::string& source, int64_t leased, int64_t ended) {
    v1::TaskSpan span;
    span.set_task(task);
    span.set_stage("fetch");
    span.set_source(source);
    span.set_leased_unix_ms(kStart + leased);
    span.set_ended_unix_ms(kStart + ended);
    timeline.Add(span);
  };
  add(1, "a", 0, 1000);
  EXPECT_EQ(SumBusyTimes(timeline).retried.name, "");
  add(1, "a", 31'000, 32'000);
  add(1, "a", 92'000, 93'000);
  add(2, "b", 0, 1000);
  add(2, "b", 5000, 6000);
  const BusyTimes times = SumBusyTimes(timeline);
  EXPECT_EQ(times.retried.name, "a");
  EXPECT_EQ(times.retried.time, absl::Seconds(90));
}

TEST(BusyTimes, AreEmptyWithoutAttempts) {
  const BusyTimes times = SumBusyTimes(Timeline());
  EXPECT_TRUE(times.stages.empty());
  EXPECT_EQ(times.slowest_source.name, "");
}

}  // namespace
}  // namespace kernelmill::client
