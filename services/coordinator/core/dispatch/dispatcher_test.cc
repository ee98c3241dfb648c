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
using ::kernelmill::testing::StatusIs;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(SchedulerTest, StaleLeaseIsRefused) {
  Submit(GitJob(1));
  const v1::LeasedTask first = LeaseOne();
  clock_.Advance(seconds(31));
  const v1::LeasedTask second = LeaseOne();
  ASSERT_EQ(second.task(), first.task());
  EXPECT_LT(first.token(), second.token());
  EXPECT_EQ(second.attempt(), 2);
  EXPECT_THAT(Complete(Done(first)), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(Complete(Done(second)), IsOk());
  EXPECT_THAT(Complete(Done(first)), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(SchedulerTest, ALeaseThatRanOutIsStaleEvenBeforeAnotherHasTheTask) {
  Submit(GitJob(1));
  const v1::LeasedTask task = LeaseOne();
  clock_.Advance(seconds(30));
  EXPECT_THAT(Complete(Done(task)), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(SchedulerTest, ExpiredLeaseIsGivenAgain) {
  Submit(GitJob(1));
  const v1::LeasedTask task = LeaseOne();
  EXPECT_TRUE(Lease().empty());
  const uint64_t seen = scheduler_->ready().generation();
  clock_.Advance(seconds(30));
  scheduler_->Tick();
  EXPECT_NE(scheduler_->ready().generation(), seen) << "waiting workers must be woken";
  EXPECT_EQ(LeaseOne().task(), task.task());
}

TEST_F(SchedulerTest, RenewalKeepsALease) {
  Submit(GitJob(1));
  const v1::LeasedTask task = LeaseOne();
  const v1::LeaseRef lease = For(task).lease();
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(seconds(20));
    EXPECT_TRUE(scheduler_->Renew({lease})->empty());
  }
  EXPECT_THAT(Complete(Done(task)), IsOk());
  EXPECT_EQ(scheduler_->Renew({lease})->size(), 1u);
}

TEST_F(SchedulerTest, CompletionTwiceIsIdempotent) {
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

TEST_F(SchedulerTest, LeasesLostTooOftenFailTheTask) {
  options_.max_attempts = 3;
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

TEST_F(SchedulerTest, ARetryableErrorIsTriedAgainLaterAndAPermanentOneIsNot) {
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

TEST_F(SchedulerTest, AHandbackCountsNoAttempt) {
  Submit(GitJob(1));
  v1::Completion handback = For(LeaseOne());
  handback.mutable_handback();
  EXPECT_THAT(Complete(handback), IsOk());
  EXPECT_EQ(LeaseOne().attempt(), 1);
}

TEST_F(SchedulerTest, WhatIsNotAResultFailsTheTask) {
  const std::string job = Submit(GitJob(1));
  v1::Completion completion = For(LeaseOne());
  completion.mutable_result();
  EXPECT_THAT(Complete(completion), IsOk());
  RunAll();
  ASSERT_EQ(Get(job).failures_size(), 1);
  EXPECT_EQ(Get(job).failures(0).code(), "INTERNAL");
}

TEST_F(SchedulerTest, TasksGoOnlyToWorkersOfTheirStage) {
  Submit(GitJob(1));
  StageSet extract;
  extract.set(static_cast<int>(StageId::kExtract));
  EXPECT_TRUE(Ask({.stages = extract, .max_tasks = 64}).tasks.empty());
  EXPECT_EQ(Lease(64).size(), 1u);
}

TEST_F(SchedulerTest, JobsTakeTurns) {
  v1::JobSpec other = GitJob(3);
  for (v1::Source& source : *other.mutable_sources()) source.set_git("other " + source.git());
  const std::string a = Submit(GitJob(3));
  const std::string b = Submit(other);
  std::vector<std::string> order;
  for (const v1::LeasedTask& task : Lease(5)) order.push_back(task.job());
  EXPECT_THAT(order, ElementsAre(a, b, a, b, a));
}

TEST_F(SchedulerTest, AnEndedJobTakesItsLeasesBack) {
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

TEST_F(SchedulerTest, TheHighestPriorityGoesFirst) {
  Submit(GitJob(3));
  const auto urgent = scheduler_->Submit(GitJob(2), "", 5);
  ASSERT_THAT(urgent, IsOk());
  EXPECT_THAT(scheduler_->Submit(GitJob(1), "", 101), StatusIs(absl::StatusCode::kInvalidArgument));
  Open();
  const std::vector<v1::LeasedTask> tasks = Lease(3);
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(tasks[0].job(), *urgent);
  EXPECT_EQ(tasks[1].job(), *urgent);
  EXPECT_NE(tasks[2].job(), *urgent);
}

TEST_F(SchedulerTest, AJobWithoutLeasesGoesBeforeOneThatHasMany) {
  Submit(GitJob(6));
  Lease(3);
  const std::string late = Submit(GitJob(6));
  for (const v1::LeasedTask& task : Lease(3)) EXPECT_EQ(task.job(), late);
}

TEST_F(SchedulerTest, EqualActionsRunOnceAlsoAcrossJobs) {
  const std::string a = Submit(GitJob(1)), b = Submit(GitJob(1));
  const std::vector<v1::LeasedTask> pins = Lease(64);
  ASSERT_EQ(pins.size(), 1u) << "both ask for the same";
  EXPECT_THAT(Complete(Done(pins[0])), IsOk());
  RunAll();
  const v1::JobStatus first = Get(a), second = Get(b);
  EXPECT_EQ(first.state(), v1::JOB_STATE_DONE);
  EXPECT_TRUE(cas::SameDigest(first.dataset(), second.dataset()));
  int64_t shared = 0;
  for (int i = 0; i < kStageCount; ++i) {
    shared += first.stages(i).cached() + second.stages(i).cached();
  }
  EXPECT_GT(shared, 0);
}

TEST_F(SchedulerTest, WhoFollowsAnEqualActionRunsItselfWhenTheLeaderFails) {
  const std::string a = Submit(GitJob(1)), b = Submit(GitJob(1));
  const v1::LeasedTask leader = LeaseOne();
  EXPECT_TRUE(Lease().empty());
  EXPECT_THAT(Complete(Error(leader, absl::StatusCode::kNotFound)), IsOk());
  const Scheduler::Leases leases =
      Ask({.stages = StageSet().set(static_cast<int>(StageId::kPin)), .max_tasks = 64});
  ASSERT_EQ(leases.tasks.size(), 1u);
  const v1::LeasedTask follower = leases.tasks[0];
  EXPECT_NE(follower.job(), leader.job());
  ASSERT_THAT(scheduler_->Cancel(follower.job()), IsOk());
  RunAll();
  EXPECT_EQ(Get(a).state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(Get(b).state(), v1::JOB_STATE_CANCELLED);
}

TEST_F(SchedulerTest, AHostIsCalledOnByAFewTasksAtATime) {
  options_.host_limit = 2;
  Open();
  v1::JobSpec spec;
  spec.set_name("job");
  for (const char* url : {"https://a.org/1", "https://a.org/2", "https://a.org/3",
                          "https://a.org/4", "https://b.org/1"}) {
    spec.add_sources()->set_git(url);
  }
  const std::string job = Submit(spec);
  const std::vector<v1::LeasedTask> tasks = Lease(64);
  ASSERT_EQ(tasks.size(), 3u) << "two of a.org, one of b.org";
  EXPECT_THAT(Complete(Error(tasks[0], absl::StatusCode::kNotFound)), IsOk());
  EXPECT_EQ(Lease(64).size(), 1u);
  clock_.Advance(seconds(30));  // the others' leases run out, and their places with them
  scheduler_->Tick();
  RunAll();
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_DONE);
}

TEST_F(SchedulerTest, AStartedAnewWorkersTasksAreFreeAtOnce) {
  Submit(GitJob(1));
  const Scheduler::Asker before = {.stages = StageSet().set(), .worker = "w", .incarnation = 1};
  const std::vector<v1::LeasedTask> lost = Ask(before).tasks;
  ASSERT_EQ(lost.size(), 1u);
  Scheduler::Asker after = before;
  after.incarnation = 2;
  const std::vector<v1::LeasedTask> again = Ask(after).tasks;
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].task(), lost[0].task());
  EXPECT_TRUE(again[0].alone()) << "it may be what ended the worker";
  EXPECT_THAT(Complete(Done(lost[0])), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(SchedulerTest, ASuspectRunsAloneAndBusyWorkersAreAskedToFinishFirst) {
  Submit(GitJob(3));
  ASSERT_EQ(Lease(2).size(), 2u);
  clock_.Advance(seconds(30));
  Scheduler::Asker busy = {.stages = StageSet().set(), .max_tasks = 64, .held = 1};
  Scheduler::Leases leases = Ask(busy);
  EXPECT_TRUE(leases.tasks.empty());
  EXPECT_TRUE(leases.finish_first);
  busy.held = 0;
  leases = Ask(busy);
  ASSERT_EQ(leases.tasks.size(), 1u);
  EXPECT_TRUE(leases.tasks[0].alone());
  EXPECT_FALSE(leases.finish_first);
  ASSERT_EQ(Ask(busy).tasks.size(), 1u) << "the other suspect";
  leases = Ask(busy);
  ASSERT_EQ(leases.tasks.size(), 1u) << "the third source, which was never leased";
  EXPECT_FALSE(leases.tasks[0].alone());
}

TEST_F(SchedulerTest, ALeaseOutlivesTheCoordinator) {
  Submit(GitJob(1));
  const v1::LeasedTask task = LeaseOne();
  Open();
  EXPECT_TRUE(Lease().empty()) << "its worker may be at it still";
  EXPECT_TRUE(scheduler_->Renew({For(task).lease()})->empty());
  EXPECT_THAT(Complete(Done(task)), IsOk());
}

TEST_F(SchedulerTest, ALeaseFromBeforeARestartRunsOutToo) {
  Submit(GitJob(1));
  const v1::LeasedTask task = LeaseOne();
  Open();
  clock_.Advance(seconds(30));
  const v1::LeasedTask again = LeaseOne();
  EXPECT_EQ(again.task(), task.task());
  EXPECT_LT(task.token(), again.token());
  EXPECT_THAT(Complete(Done(task)), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace kernelmill::coordinator
