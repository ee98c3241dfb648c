#include "client/console/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <utility>
#include <vector>

#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

v1::JobStatus In(v1::JobState state) {
  v1::JobStatus status;
  status.set_state(state);
  return status;
}

// The statuses that one call of Watch streams, and its end.
struct Script {
  std::vector<v1::JobStatus> statuses;
  absl::Status end;
};

class WatchJobTest : public ::testing::Test {
 protected:
  WatchJobTest() {
    options_.now = [this] { return now_; };
    options_.sleep = [this](absl::Duration pause) { now_ += pause; };
    options_.on_lost = [this](const absl::Status&) { ++lost_; };
  }
  // Plays back a script a call; after the last the coordinator is gone.
  absl::StatusOr<v1::JobStatus> Watch(std::deque<Script> scripts) {
    const auto watch = [&](const OnStatus& on_status) -> absl::Status {
      ++calls_;
      if (scripts.empty()) return absl::UnavailableError("gone");
      const Script script = scripts.front();
      scripts.pop_front();
      for (const v1::JobStatus& status : script.statuses) on_status(status);
      return script.end;
    };
    return WatchJob(watch, options_, [this](const v1::JobStatus&) { ++seen_; });
  }

  absl::Time now_ = absl::FromUnixSeconds(0);
  WatchOptions options_;
  int calls_ = 0;
  int seen_ = 0;
  int lost_ = 0;
};

TEST_F(WatchJobTest, EndsWithTheJob) {
  const auto status =
      Watch({{{In(v1::JOB_STATE_RUNNING), In(v1::JOB_STATE_DONE)}, absl::OkStatus()}});
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(seen_, 2);
}

TEST_F(WatchJobTest, ConnectsAgainAfterALoss) {
  EXPECT_THAT(Watch({{{In(v1::JOB_STATE_RUNNING)}, absl::UnavailableError("lost")},
                     {{}, absl::UnavailableError("refused")},
                     {{In(v1::JOB_STATE_RUNNING)}, absl::OkStatus()},  // it drained
                     {{In(v1::JOB_STATE_DONE)}, absl::OkStatus()}}),
              IsOk());
  EXPECT_EQ(calls_, 4);
  EXPECT_EQ(lost_, 2);  // once for each time that it went away
}

TEST_F(WatchJobTest, GivesUpWhenTheCoordinatorStaysAway) {
  EXPECT_THAT(Watch({{{In(v1::JOB_STATE_RUNNING)}, absl::UnavailableError("lost")}}),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_GE(now_, absl::FromUnixSeconds(60));
  EXPECT_LE(now_, absl::FromUnixSeconds(61));
}

// A job may be silent for minutes, as while it compiles. Its coordinator answers as long as the
// stream lasts.
TEST_F(WatchJobTest, TheTimeToTryAgainBeginsWithTheLoss) {
  int calls = 0;
  const auto watch = [&](const OnStatus& on_status) -> absl::Status {
    on_status(In(++calls == 1 ? v1::JOB_STATE_RUNNING : v1::JOB_STATE_DONE));
    now_ += absl::Minutes(10);
    return absl::UnavailableError("lost");
  };
  EXPECT_THAT(WatchJob(watch, options_, [](const v1::JobStatus&) {}), IsOk());
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(lost_, 1);
}

TEST_F(WatchJobTest, OtherErrorsAreFinal) {
  EXPECT_THAT(Watch({{{}, absl::NotFoundError("no such job")}}),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(calls_, 1);
}

}  // namespace
}  // namespace kernelmill::client
