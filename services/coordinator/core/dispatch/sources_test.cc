// Where sources come from: searches, visits and hosts that want to be left alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "common/cas/digest.h"
#include "common/testing/status_matchers.h"
#include "services/coordinator/core/testing/scheduler_fixture.h"

namespace kernelmill::coordinator {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::HasSubstr;

class SourcesTest : public SchedulerTest {
 protected:
  static v1::JobSpec VisitJob() {
    v1::JobSpec spec = GitJob(1);
    spec.mutable_visits();
    return spec;
  }
  static int64_t PinsFromVisits(const v1::JobStatus& status) {
    return status.stages(static_cast<int>(StageId::kPin)).cached();
  }
};

TEST_F(SourcesTest, WhatASearchFoundSurvivesARestart) {
  stages_.found = {{"a", {"x", "y"}}};
  v1::JobSpec spec = GitJob(1);
  *spec.add_sources() = SearchFor("a");
  const std::string job = Submit(spec);
  const v1::LeasedTask search = LeaseOne();
  EXPECT_EQ(search.action().stage(), "discover");
  EXPECT_THAT(Complete(Done(search)), IsOk());
  Open();
  RunAll();
  const v1::JobStatus status = Get(job);
  EXPECT_EQ(status.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(status.lock().sources_size(), 3);
}

TEST_F(SourcesTest, ARepositoryThatWasVisitedLatelyIsPinnedWithoutAVisit) {
  const v1::JobStatus first = (Submit(VisitJob()), RunAll(), Get("job-000001"));
  EXPECT_EQ(PinsFromVisits(first), 0);
  Open();  // visits are kept
  clock_.Advance(std::chrono::hours(11));
  const std::string second = Submit(VisitJob());
  RunAll();
  const v1::JobStatus status = Get(second);
  EXPECT_EQ(PinsFromVisits(status), 1);
  EXPECT_EQ(status.lock().sources(0).ref(), first.lock().sources(0).ref());
  EXPECT_TRUE(cas::SameDigest(status.dataset(), first.dataset()));
  clock_.Advance(std::chrono::hours(2));
  const std::string third = Submit(VisitJob());
  RunAll();
  EXPECT_EQ(PinsFromVisits(Get(third)), 0);
}

TEST_F(SourcesTest, AJobWithoutAPolicyAsksEveryTime) {
  Submit(VisitJob());
  RunAll();
  const std::string job = Submit(GitJob(1));
  RunAll();
  EXPECT_EQ(PinsFromVisits(Get(job)), 0);
}

TEST_F(SourcesTest, ARepositoryThatWasNotThereIsLeftAloneUntilSomebodyRetries) {
  Submit(VisitJob());
  EXPECT_THAT(Complete(Error(LeaseOne(), absl::StatusCode::kNotFound)), IsOk());
  RunAll();
  clock_.Advance(std::chrono::hours(24 * 30));
  const std::string job = Submit(VisitJob());
  RunAll();
  ASSERT_EQ(Get(job).failures_size(), 1);
  EXPECT_EQ(Get(job).failures(0).code(), "NOT_FOUND");
  EXPECT_THAT(Get(job).failures(0).message(), HasSubstr("not visited"));
  ASSERT_THAT(scheduler_->Retry(job), IsOk());
  RunAll();
  EXPECT_EQ(Get(job).failures_size(), 0);
}

TEST_F(SourcesTest, AFailureThatIsTriedAgainIsNoVisit) {
  const std::string job = Submit(VisitJob());
  EXPECT_THAT(Complete(Error(LeaseOne(), absl::StatusCode::kUnavailable)), IsOk());
  clock_.Advance(std::chrono::minutes(1));
  RunAll();
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(Get(job).failures_size(), 0);
}

TEST_F(SourcesTest, AHostThatAsksForItIsLeftAloneAndTheOthersAreNot) {
  v1::JobSpec spec;
  spec.set_name("job");
  for (const char* url : {"https://a.org/1", "https://a.org/2", "https://b.org/1"}) {
    spec.add_sources()->set_git(url);
  }
  const std::string job = Submit(spec);
  v1::Completion busy = Error(LeaseOne(), absl::StatusCode::kUnavailable);
  busy.set_retry_after_ms(60'000);
  EXPECT_THAT(Complete(busy), IsOk());
  const std::vector<v1::LeasedTask> others = Lease(64);
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others[0].action().params().pin().source().git(), "https://b.org/1");
  EXPECT_THAT(Complete(Done(others[0])), IsOk());
  RunAll();  // all of b.org, but for what waits for the whole job
  clock_.Advance(std::chrono::seconds(59));
  scheduler_->Tick();
  EXPECT_TRUE(Lease(64).empty());
  clock_.Advance(std::chrono::seconds(1));
  scheduler_->Tick();
  EXPECT_EQ(Lease(64).size(), 2u);
  clock_.Advance(std::chrono::seconds(31));
  RunAll();
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_DONE);
}

}  // namespace
}  // namespace kernelmill::coordinator
