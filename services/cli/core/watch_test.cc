#include "services/cli/core/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <utility>
#include <vector>

#include "common/testing/status_matchers.h"

namespace kernelmill::cli {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

v1::JobStatus In(v1::JobState state) {
  v1::JobStatus status;
  status.set_state(state);
  return status;
}

// Plays back one script a call of Watch: the statuses that it streams, then how it ends.
class ScriptedClient : public CrawlClient {
 public:
  struct Script {
    std::vector<v1::JobStatus> statuses;
    absl::Status end;
  };
  explicit ScriptedClient(std::deque<Script> scripts) : scripts_(std::move(scripts)) {}

  absl::StatusOr<std::string> Submit(const v1::JobSpec&, const std::string&, int) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<v1::JobStatus> GetJob(const std::string&) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<std::vector<v1::JobStatus>> ListJobs() override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<v1::JobStatus> CancelJob(const std::string&) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<v1::JobStatus> RetryJob(const std::string&) override {
    return absl::UnimplementedError("");
  }
  absl::Status DeleteJob(const std::string&) override { return absl::UnimplementedError(""); }
  void Interrupt() override {}
  absl::Status Watch(const std::string&,
                     const std::function<void(const v1::JobStatus&)>& on_status) override {
    ++calls;
    if (scripts_.empty()) return absl::UnavailableError("gone");
    const Script script = scripts_.front();
    scripts_.pop_front();
    for (const v1::JobStatus& status : script.statuses) on_status(status);
    return script.end;
  }

  int calls = 0;

 private:
  std::deque<Script> scripts_;
};

class WatchJobTest : public ::testing::Test {
 protected:
  WatchJobTest() {
    options_.now = [this] { return now_; };
    options_.sleep = [this](absl::Duration pause) { now_ += pause; };
    options_.on_lost = [this](const absl::Status&) { ++lost_; };
  }
  absl::StatusOr<v1::JobStatus> Watch(ScriptedClient& client) {
    return WatchJob(client, "j", options_, [this](const v1::JobStatus&) { ++seen_; });
  }

  absl::Time now_ = absl::FromUnixSeconds(0);
  WatchOptions options_;
  int seen_ = 0;
  int lost_ = 0;
};

TEST_F(WatchJobTest, EndsWithTheJob) {
  ScriptedClient client({{{In(v1::JOB_STATE_RUNNING), In(v1::JOB_STATE_DONE)}, absl::OkStatus()}});
  const auto status = Watch(client);
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(seen_, 2);
}

TEST_F(WatchJobTest, ConnectsAgainAfterALoss) {
  ScriptedClient client({{{In(v1::JOB_STATE_RUNNING)}, absl::UnavailableError("lost")},
                         {{}, absl::UnavailableError("refused")},
                         {{In(v1::JOB_STATE_RUNNING)}, absl::OkStatus()},  // it drained
                         {{In(v1::JOB_STATE_DONE)}, absl::OkStatus()}});
  EXPECT_THAT(Watch(client), IsOk());
  EXPECT_EQ(client.calls, 4);
  EXPECT_EQ(lost_, 2);  // once for each time that it went away
}

TEST_F(WatchJobTest, GivesUpWhenTheCoordinatorStaysAway) {
  ScriptedClient client({{{In(v1::JOB_STATE_RUNNING)}, absl::UnavailableError("lost")}});
  EXPECT_THAT(Watch(client), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_GE(now_, absl::FromUnixSeconds(60));
  EXPECT_LE(now_, absl::FromUnixSeconds(61));
}

TEST_F(WatchJobTest, OtherErrorsAreFinal) {
  ScriptedClient client({{{}, absl::NotFoundError("no such job")}});
  EXPECT_THAT(Watch(client), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(client.calls, 1);
}

}  // namespace
}  // namespace kernelmill::cli
