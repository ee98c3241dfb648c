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
using ::testing::HasSubstr;

TEST_F(SchedulerTest, RunsAJobToItsDataset) {
  const std::string job = Submit(GitJob(2));
  EXPECT_EQ(job, "job-000001");
  RunAll();
  const v1::JobStatus status = Get(job);
  EXPECT_EQ(status.state(), v1::JOB_STATE_DONE);
  EXPECT_THAT(cas::CheckDigest(status.dataset()), IsOk());
  ASSERT_EQ(status.stages_size(), kStageCount);
  const v1::StageProgress& extract = status.stages(static_cast<int>(StageId::kExtract));
  EXPECT_EQ(extract.stage(), "extract");
  EXPECT_EQ(extract.total(), 4);
  EXPECT_EQ(extract.done(), 4);
  EXPECT_EQ(extract.running(), 0);
}

TEST_F(SchedulerTest, SubmitIsIdempotentByRequestId) {
  const std::string job = Submit(GitJob(1), "request");
  EXPECT_EQ(Submit(GitJob(1), "request"), job);
  EXPECT_NE(Submit(GitJob(1), "another"), job);
  Open();
  EXPECT_EQ(Submit(GitJob(1), "request"), job);
  EXPECT_EQ(scheduler_->ListJobs().size(), 2u);
}

TEST_F(SchedulerTest, AWrongSpecIsRefused) {
  EXPECT_THAT(scheduler_->Submit(v1::JobSpec(), ""), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(SchedulerTest, RetryRunsAnEndedJobAgainWithItsPins) {
  const std::string job = Submit(GitJob(1));
  EXPECT_THAT(Complete(Done(LeaseOne())), IsOk());  // pin
  const v1::LeasedTask old = LeaseOne();
  ASSERT_THAT(scheduler_->Cancel(job), IsOk());
  const auto again = scheduler_->Retry(job);
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->state(), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(again->runs(), 2);
  EXPECT_EQ(scheduler_->Retry(job)->runs(), 2) << "a running job goes on as it is";
  EXPECT_THAT(Complete(Done(old)), StatusIs(absl::StatusCode::kFailedPrecondition));
  const v1::LeasedTask fetch = LeaseOne();
  EXPECT_EQ(fetch.action().stage(), "fetch") << "the source is pinned";
  EXPECT_THAT(Complete(Done(fetch)), IsOk());
  store_.LosePower();
  Open();
  RunAll();
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(scheduler_->ListJobs().size(), 1u);
}

TEST_F(SchedulerTest, ADeletedJobIsForgottenAndItsNumberNotUsedAgain) {
  const std::string job = Submit(GitJob(1), "request");
  EXPECT_THAT(scheduler_->Delete(job), StatusIs(absl::StatusCode::kFailedPrecondition));
  RunAll();
  EXPECT_THAT(scheduler_->Delete(job), IsOk());
  EXPECT_THAT(scheduler_->GetJob(job), StatusIs(absl::StatusCode::kNotFound));
  Open();
  EXPECT_THAT(scheduler_->GetJob(job), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(Submit(GitJob(1), "request"), "job-000002");
}

TEST_F(SchedulerTest, EndedJobsAreDeletedAfterTheirRetentionAndRunningOnesAreNot) {
  options_.job_retention = absl::Hours(1);
  Open();
  const std::string ended = Submit(GitJob(1));
  RunAll();
  const std::string running = Submit(GitJob(1));
  ASSERT_THAT(scheduler_->DeleteOldJobs(absl::Now() + absl::Minutes(59)), IsOk());
  EXPECT_EQ(scheduler_->ListJobs().size(), 2u);
  ASSERT_THAT(scheduler_->DeleteOldJobs(absl::Now() + absl::Minutes(61)), IsOk());
  EXPECT_THAT(scheduler_->GetJob(ended), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(Get(running).state(), v1::JOB_STATE_RUNNING);
}

TEST_F(SchedulerTest, TooManyUnfinishedJobsAreRefused) {
  options_.max_unfinished_jobs = 2;
  Open();
  const std::string first = Submit(GitJob(1), "a");
  Submit(GitJob(1));
  EXPECT_THAT(scheduler_->Submit(GitJob(1), ""), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(Submit(GitJob(1), "a"), first) << "that is no further job";
  ASSERT_THAT(scheduler_->Cancel(first), IsOk());
  Submit(GitJob(1));
}

TEST_F(SchedulerTest, DrainLeasesNothingMoreButTakesResults) {
  Submit(GitJob(2));
  const v1::LeasedTask task = LeaseOne();
  scheduler_->Drain();
  EXPECT_THAT(scheduler_->Lease({.stages = StageSet().set()}),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(Complete(Done(task)), IsOk());
}

TEST_F(SchedulerTest, ARestartAtAnyMomentLosesNothingAndChangesNothing) {
  const v1::JobSpec spec = GitJob(3);
  const std::string first = Submit(spec);
  RunAll();
  const v1::JobStatus expected = Get(first);

  const std::string second = Submit(spec);
  int done = 0;
  for (std::vector<v1::LeasedTask> tasks = Lease(2); !tasks.empty(); tasks = Lease(2)) {
    EXPECT_THAT(Complete(Done(tasks[0])), IsOk());
    ++done;
    store_.LosePower();
    Open();
    // The others' leases were not synced: gone, or still good. Either way the tasks are there.
    for (size_t i = 1; i < tasks.size(); ++i) {
      const absl::Status status = Complete(Done(tasks[i]));
      if (status.ok()) ++done;
    }
    clock_.Advance(seconds(31));
  }
  const v1::JobStatus status = Get(second);
  EXPECT_EQ(status.state(), v1::JOB_STATE_DONE);
  EXPECT_TRUE(cas::SameDigest(status.dataset(), expected.dataset()));
  int64_t counted = 0;
  for (int i = 0; i < kStageCount; ++i) {
    EXPECT_EQ(status.stages(i).total(), expected.stages(i).total()) << i;
    counted += status.stages(i).done();
  }
  EXPECT_EQ(counted, done) << "one accepted result a task";
}

TEST_F(SchedulerTest, NothingIsAcknowledgedOnceTheStoreHasFailed) {
  const std::string job = Submit(GitJob(1));
  const v1::LeasedTask task = LeaseOne();
  store_.FailWrites(absl::ResourceExhaustedError("disk full"));
  EXPECT_THAT(scheduler_->Complete({Done(task)}), StatusIs(absl::StatusCode::kResourceExhausted));
  store_.FailWrites(absl::OkStatus());
  EXPECT_THAT(scheduler_->Submit(GitJob(1), ""), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(scheduler_->status(), StatusIs(absl::StatusCode::kResourceExhausted));
  Open();
  EXPECT_THAT(Complete(Done(task)), IsOk()) << "a new start continues where the disk is";
  RunAll();
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_DONE);
}

TEST_F(SchedulerTest, AbandonsWhatWasUnfinished) {
  const std::string done = Submit(GitJob(1));
  RunAll();
  const std::string unfinished = Submit(GitJob(1));
  options_.abandon_unfinished = true;
  Open();
  EXPECT_EQ(Get(unfinished).state(), v1::JOB_STATE_ABANDONED);
  EXPECT_EQ(Get(done).state(), v1::JOB_STATE_DONE);
  EXPECT_TRUE(Lease().empty());
  EXPECT_EQ(Submit(GitJob(1)), "job-000003");
}

TEST_F(SchedulerTest, AJobOfAnotherBuildIsPlannedAnew) {
  const std::string job = Submit(GitJob(1));
  EXPECT_THAT(Complete(Done(LeaseOne())), IsOk());
  std::vector<JobRow> rows = *store_.Jobs();
  rows[0].plan = "pin=0;";
  Change change;
  change.jobs = rows;
  ASSERT_THAT(store_.Write({change}, true), IsOk());
  Open();
  EXPECT_EQ(LeaseOne().action().stage(), "pin");
  clock_.Advance(seconds(31));
  RunAll();
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_DONE);
}

TEST_F(SchedulerTest, UnknownJobsAndTasksAreNamed) {
  EXPECT_THAT(scheduler_->GetJob("job-000009"), StatusIs(absl::StatusCode::kNotFound));
  v1::Completion completion;
  completion.mutable_lease()->set_task(TaskId(9, 9));
  completion.mutable_lease()->set_token(1);
  EXPECT_THAT(Complete(completion), StatusIs(absl::StatusCode::kInvalidArgument));
  completion.mutable_handback();
  EXPECT_THAT(Complete(completion), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(SchedulerTest, TasksThatAreTriedAgainAreShownWithTheirLastError) {
  const std::string job = Submit(GitJob(1));
  EXPECT_THAT(Complete(Error(LeaseOne(), absl::StatusCode::kUnavailable)), IsOk());
  for (int i = 0; i < 2; ++i) {
    const v1::JobStatus status = Get(job);
    ASSERT_EQ(status.troubled_size(), 1);
    EXPECT_EQ(status.troubled(0).source(), "r0");
    EXPECT_EQ(status.troubled(0).stage(), "pin");
    EXPECT_EQ(status.troubled(0).attempts(), 1);
    EXPECT_THAT(status.troubled(0).last_error(), HasSubstr("why"));
    Open();  // it is kept
  }
  RunAll();
  EXPECT_EQ(Get(job).troubled_size(), 0);
}

}  // namespace
}  // namespace kernelmill::coordinator
