#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "common/testing/status_matchers.h"
#include "services/coordinator/core/testing/scheduler_fixture.h"

namespace kernelmill::coordinator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using std::chrono::seconds;
using ::testing::HasSubstr;

class OutcomesTest : public SchedulerTest {};

TEST_F(OutcomesTest, StaleLeaseIsRefused) {
  Submit(GitJob(1));
  const v1::LeasedTask first = LeaseOne();
  clock_.Advance(seconds(31));
  const v1::LeasedTask second = LeaseOne();
  ASSERT_EQ(second.task(), first.task());
  EXPECT_NE(first.token(), second.token());
  EXPECT_EQ(second.attempt(), 2);
  EXPECT_THAT(Complete(Done(first)), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(Complete(Done(second)), IsOk());
  EXPECT_THAT(Complete(Done(first)), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(OutcomesTest, ATaskThatWaitsIsShownAndCostsNoAttempt) {
  const std::string job = Submit(GitJob(1));
  const v1::LeasedTask task = LeaseOne();
  const std::vector<v1::LeaseRef> lease = {For(task).lease()};
  const uint64_t before = *scheduler_->JobVersion(job);
  ASSERT_TRUE(scheduler_->Renew(lease, {}, "the store: full")->empty());
  EXPECT_GT(*scheduler_->JobVersion(job), before) << "watchers are told";
  const uint64_t told = *scheduler_->JobVersion(job);
  ASSERT_TRUE(scheduler_->Renew(lease, {}, "the store: full")->empty());
  EXPECT_EQ(*scheduler_->JobVersion(job), told) << "once";
  for (const v1::JobStatus& status : {Get(job), scheduler_->ListJobs().front()}) {
    ASSERT_EQ(status.troubled_size(), 1);
    EXPECT_EQ(status.troubled(0).last_error(), "waits for the store: full");
    EXPECT_EQ(status.troubled(0).attempts(), 0);
  }
  ASSERT_TRUE(scheduler_->Renew(lease)->empty());
  EXPECT_EQ(Get(job).troubled_size(), 0) << "it goes on";
  ASSERT_TRUE(scheduler_->Renew(lease, {}, "the store: full")->empty());
  EXPECT_THAT(Complete(Done(task)), IsOk());
  EXPECT_EQ(Get(job).troubled_size(), 0) << "it is done";
  EXPECT_EQ(scheduler_->Renew(lease, {}, "the store: full")->size(), 1u);
  EXPECT_EQ(Get(job).troubled_size(), 0) << "a worker without the lease is not heard";
}

TEST_F(OutcomesTest, ALeaseThatRanOutIsStaleEvenBeforeAnotherHasTheTask) {
  Submit(GitJob(1));
  const v1::LeasedTask task = LeaseOne();
  clock_.Advance(seconds(30));
  EXPECT_THAT(Complete(Done(task)), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(OutcomesTest, AJobWhoseInputTheStoreHasLostBeginsAgainWithItsPins) {
  const std::string job = Submit(GitJob(1), "request");
  EXPECT_THAT(Complete(Done(LeaseOne())), IsOk());  // pin
  EXPECT_THAT(Complete(Done(LeaseOne())), IsOk());  // fetch
  const v1::LeasedTask reads = LeaseOne(), other = LeaseOne();
  EXPECT_THAT(Complete(Error(reads, absl::StatusCode::kNotFound)), IsOk());
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(Get(job).runs(), 2);
  EXPECT_EQ(Get(job).failure_count(), 0);
  EXPECT_THAT(Complete(Done(other)), StatusIs(absl::StatusCode::kFailedPrecondition));
  Open();
  EXPECT_EQ(Submit(GitJob(1), "request"), job) << "it is known by its request";
  EXPECT_EQ(LeaseOne().action().stage(), "fetch") << "the source is pinned";
  clock_.Advance(seconds(31));
  RunAll();
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(Get(job).failure_count(), 0);
}

TEST_F(OutcomesTest, AJobWhoseInputIsDamagedBeginsAgain) {
  const std::string job = Submit(GitJob(1));
  EXPECT_THAT(Complete(Done(LeaseOne())), IsOk());  // pin
  EXPECT_THAT(Complete(Done(LeaseOne())), IsOk());  // fetch
  EXPECT_THAT(Complete(Error(LeaseOne(), absl::StatusCode::kDataLoss)), IsOk());
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(Get(job).runs(), 2);
  EXPECT_EQ(Get(job).failure_count(), 0);
}

// The next run has other tasks under the same numbers.
TEST_F(OutcomesTest, TasksOfARunThatWaitForAHostGoWithIt) {
  options_.dispatch.host_limit = 1;
  Open();
  v1::JobSpec spec = GitJob(8);
  for (v1::Source& source : *spec.mutable_sources())
    source.set_git("https://a.org/" + source.git());
  const std::string job = Submit(spec);
  for (int pin = 0; pin < 8; ++pin) EXPECT_THAT(Complete(Done(LeaseOne())), IsOk());
  EXPECT_THAT(Complete(Done(LeaseOne())), IsOk());        // the first fetch
  const std::vector<v1::LeasedTask> leased = Lease(100);  // the next fetch, and what extracts
  const auto reads = std::find_if(leased.begin(), leased.end(), [](const v1::LeasedTask& task) {
    return task.action().stage() == "extract";
  });
  ASSERT_NE(reads, leased.end());
  EXPECT_THAT(Complete(Error(*reads, absl::StatusCode::kNotFound)), IsOk());
  EXPECT_EQ(Get(job).runs(), 2);
  scheduler_->Tick();
  RunAll();
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(Get(job).failure_count(), 0);
}

TEST_F(OutcomesTest, AJobWhoseInputsAreLostAgainAndAgainEnds) {
  const std::string job = Submit(GitJob(1));
  EXPECT_THAT(Complete(Done(LeaseOne())), IsOk());  // pin
  for (std::vector<v1::LeasedTask> tasks = Lease(); !tasks.empty(); tasks = Lease()) {
    const bool host = tasks[0].action().stage() == "fetch";
    EXPECT_THAT(Complete(host ? Done(tasks[0]) : Error(tasks[0], absl::StatusCode::kNotFound)),
                IsOk());
    for (size_t i = 1; i < tasks.size(); ++i)
      (void)Complete(Error(tasks[i], absl::StatusCode::kNotFound));
  }
  EXPECT_EQ(Get(job).runs(), 10);
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_FAILED);
}

TEST_F(OutcomesTest, ASourceThatItsHostDoesNotHaveBeginsNothingAgain) {
  const std::string job = Submit(GitJob(1));
  EXPECT_THAT(Complete(Error(LeaseOne(), absl::StatusCode::kNotFound)), IsOk());
  EXPECT_EQ(Get(job).runs(), 1);
  EXPECT_EQ(Get(job).failure_count(), 1);
}

TEST_F(OutcomesTest, CompletionTwiceIsIdempotent) {
  const std::string job = Submit(GitJob(1));
  v1::LeasedTask task;
  for (std::vector<v1::LeasedTask> tasks = Lease(); !tasks.empty(); tasks = Lease()) {
    task = tasks[0];
    EXPECT_THAT(Complete(Done(task)), IsOk());
    EXPECT_THAT(Complete(Done(task)), IsOk()) << task.action().stage();
  }
  EXPECT_EQ(Get(job).stages(static_cast<int>(StageId::kExtract)).done(), 2);
  ASSERT_EQ(task.action().stage(), "manifest");
  Open();
  EXPECT_THAT(Complete(Done(task)), IsOk()) << "also after the job and a restart";
}

TEST_F(OutcomesTest, ACompletionTwiceInOneCallIsTakenOnceAlsoIfItEndsTheJob) {
  const std::string job = Submit(GitJob(1));
  for (std::vector<v1::LeasedTask> tasks = Lease(); !tasks.empty(); tasks = Lease()) {
    const v1::Completion done = Done(tasks[0]);
    v1::Completion other = done;
    other.mutable_lease()->set_token(done.lease().token() + 1);
    const auto statuses = scheduler_->Complete({done, done, other});
    ASSERT_THAT(statuses, IsOk());
    EXPECT_THAT(statuses->at(0), IsOk());
    EXPECT_THAT(statuses->at(1), IsOk()) << tasks[0].action().stage();
    EXPECT_THAT(statuses->at(2), StatusIs(absl::StatusCode::kFailedPrecondition));
  }
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(Get(job).stages(static_cast<int>(StageId::kManifest)).done(), 1);
}

TEST_F(OutcomesTest, LeasesLostTooOftenFailTheTask) {
  options_.outcomes.max_attempts = 3;
  Open();
  const std::string job = Submit(GitJob(1));
  v1::LeasedTask task;
  for (int i = 0; i < 3; ++i) {
    task = LeaseOne();
    EXPECT_EQ(task.attempt(), i + 1);
    clock_.Advance(seconds(30));
  }
  scheduler_->Tick();
  EXPECT_THAT(Complete(Done(task)), StatusIs(absl::StatusCode::kFailedPrecondition));
  RunAll();
  const v1::JobStatus status = Get(job);
  EXPECT_EQ(status.state(), v1::JOB_STATE_DONE);
  ASSERT_EQ(status.failures_size(), 1);
  EXPECT_EQ(status.failures(0).code(), "DEADLINE_EXCEEDED");
  EXPECT_THAT(status.failures(0).message(), HasSubstr("gave up after 3 attempts"));
}

TEST_F(OutcomesTest, ARetryableErrorIsTriedAgainLaterAndAPermanentOneIsNot) {
  const std::string job = Submit(GitJob(1));
  v1::LeasedTask task = LeaseOne();
  EXPECT_THAT(Complete(Error(task, absl::StatusCode::kUnavailable)), IsOk());
  EXPECT_THAT(Complete(Error(task, absl::StatusCode::kUnavailable)), IsOk()) << "said twice";
  EXPECT_TRUE(Lease().empty());
  clock_.Advance(seconds(1));
  task = LeaseOne();
  EXPECT_EQ(task.attempt(), 2);
  EXPECT_THAT(Complete(Error(task, absl::StatusCode::kUnavailable)), IsOk());
  clock_.Advance(seconds(1));
  EXPECT_TRUE(Lease().empty()) << "the pause must grow";
  clock_.Advance(seconds(1));
  EXPECT_THAT(Complete(Error(LeaseOne(), absl::StatusCode::kNotFound)), IsOk());
  RunAll();
  ASSERT_EQ(Get(job).failures_size(), 1);
  EXPECT_EQ(Get(job).failures(0).code(), "NOT_FOUND");
}

TEST_F(OutcomesTest, AHandbackCountsNoAttempt) {
  Submit(GitJob(1));
  v1::Completion handback = For(LeaseOne());
  handback.mutable_handback();
  EXPECT_THAT(Complete(handback), IsOk());
  EXPECT_EQ(LeaseOne().attempt(), 1);
}

TEST_F(OutcomesTest, WhatIsNotAResultIsRefusedAndAnotherWorkerIsAsked) {
  const std::string job = Submit(GitJob(1));
  v1::LeasedTask task = LeaseOne();
  v1::Completion lie = Done(task);
  lie.mutable_result()->mutable_pinned()->set_git("https://evil.example/r0");
  EXPECT_THAT(Complete(lie), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Complete(Done(task)), IsOk()) << "the lease is over, so this changes nothing";
  EXPECT_TRUE(Lease().empty()) << "after a pause";
  clock_.Advance(seconds(1));
  task = LeaseOne();
  EXPECT_EQ(task.action().stage(), "pin");
  EXPECT_EQ(task.attempt(), 2);
  EXPECT_THAT(Complete(Done(task)), IsOk());
  RunAll();
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(Get(job).failures_size(), 0);
  EXPECT_EQ(Lock(job).sources(0).git(), "r0");
}

TEST_F(OutcomesTest, WhereAllWorkersLieTheTaskFails) {
  options_.outcomes.max_attempts = 3;
  Open();
  const std::string job = Submit(GitJob(1));
  for (int i = 0; i < 3; ++i) {
    v1::Completion completion = For(LeaseOne());
    completion.mutable_result();
    EXPECT_THAT(Complete(completion), StatusIs(absl::StatusCode::kInvalidArgument));
    clock_.Advance(seconds(30));
  }
  RunAll();
  ASSERT_EQ(Get(job).failures_size(), 1);
  EXPECT_EQ(Get(job).failures(0).code(), "INTERNAL");
  EXPECT_THAT(Get(job).failures(0).message(),
              HasSubstr("gave up after 3 attempts: invalid result"));
}

TEST_F(OutcomesTest, AForgedPinIsNotRemembered) {
  v1::JobSpec spec = GitJob(1);
  spec.mutable_visits();
  Submit(spec);
  v1::Completion lie = Done(LeaseOne());
  lie.mutable_result()->mutable_pinned()->set_ref(std::string(40, 'e'));
  lie.mutable_result()->mutable_pinned()->set_git("https://evil.example/r0");
  EXPECT_THAT(Complete(lie), StatusIs(absl::StatusCode::kInvalidArgument));
  const std::string second = Submit(spec);
  clock_.Advance(seconds(1));
  RunAll();
  EXPECT_EQ(Get(second).stages(static_cast<int>(StageId::kPin)).cached() +
                Get("job-000001").stages(static_cast<int>(StageId::kPin)).cached(),
            1)
      << "one follows the other, and neither takes it from the history";
  EXPECT_NE(Lock(second).sources(0).ref(), std::string(40, 'e'));
}

// A false result of an action that two jobs need harms neither of them.
TEST_F(OutcomesTest, WhoFollowsALiarIsToldTheTruthLater) {
  const std::string a = Submit(GitJob(1)), b = Submit(GitJob(1));
  v1::Completion lie = For(LeaseOne());
  lie.mutable_result();
  EXPECT_THAT(Complete(lie), StatusIs(absl::StatusCode::kInvalidArgument));
  clock_.Advance(seconds(1));
  RunAll();
  for (const std::string& job : {a, b}) {
    EXPECT_EQ(Get(job).state(), v1::JOB_STATE_DONE);
    EXPECT_EQ(Get(job).failures_size(), 0);
  }
}

TEST_F(OutcomesTest, AnEndedJobTakesItsLeasesBack) {
  const std::string job = Submit(GitJob(1));
  for (const char* stage : {"pin", "fetch", "extract", "extract", "link"}) {
    const v1::LeasedTask task = LeaseOne();
    ASSERT_EQ(task.action().stage(), stage);
    EXPECT_THAT(Complete(Done(task)), IsOk());
  }
  const v1::LeasedTask task = LeaseOne();
  const auto cancelled = scheduler_->Cancel(job);
  ASSERT_THAT(cancelled, IsOk());
  EXPECT_EQ(cancelled->state(), v1::JOB_STATE_CANCELLED);
  EXPECT_EQ(scheduler_->Renew({For(task).lease()})->size(), 1u);
  EXPECT_THAT(Complete(Done(task)), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_TRUE(Lease(64).empty());
  Open();
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_CANCELLED);
  EXPECT_TRUE(Lease(64).empty());
}

TEST_F(OutcomesTest, WhoFollowsAnEqualActionRunsItselfWhenTheLeaderFails) {
  const std::string a = Submit(GitJob(1)), b = Submit(GitJob(1));
  const v1::LeasedTask leader = LeaseOne();
  EXPECT_TRUE(Lease().empty());
  EXPECT_THAT(Complete(Error(leader, absl::StatusCode::kNotFound)), IsOk());
  const Leases leases =
      Ask({.stages = StageSet().set(static_cast<int>(StageId::kPin)), .max_tasks = 64});
  ASSERT_EQ(leases.tasks.size(), 1u);
  const v1::LeasedTask follower = leases.tasks[0];
  EXPECT_NE(follower.job(), leader.job());
  ASSERT_THAT(scheduler_->Cancel(follower.job()), IsOk());
  RunAll();
  EXPECT_EQ(Get(a).state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(Get(b).state(), v1::JOB_STATE_CANCELLED);
}

}  // namespace
}  // namespace kernelmill::coordinator
