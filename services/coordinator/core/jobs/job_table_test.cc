#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/job/job_spec.h"
#include "common/testing/status_matchers.h"
#include "services/coordinator/core/testing/scheduler_fixture.h"

namespace kernelmill::coordinator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using std::chrono::seconds;
using ::testing::HasSubstr;

class JobTableTest : public SchedulerTest {};

TEST_F(JobTableTest, SubmitIsIdempotentByRequestId) {
  const std::string job = Submit(GitJob(1), "request");
  EXPECT_EQ(Submit(GitJob(1), "request"), job);
  EXPECT_NE(Submit(GitJob(1), "another"), job);
  Open();
  EXPECT_EQ(Submit(GitJob(1), "request"), job);
  EXPECT_EQ(scheduler_->ListJobs().size(), 2u);
}

TEST_F(JobTableTest, AWrongSpecIsRefused) {
  EXPECT_THAT(scheduler_->Submit(v1::JobSpec(), ""), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(JobTableTest, AJobThatCompilesIsTakenAndHasADataset) {
  v1::JobSpec spec = GitJob(1);
  spec.mutable_compile();
  const std::string job = Submit(spec);
  RunAll();
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_DONE);
}

TEST_F(JobTableTest, RetryRunsAnEndedJobAgainWithItsPins) {
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

TEST_F(JobTableTest, ADeletedJobIsForgottenAndItsNumberNotUsedAgain) {
  const std::string job = Submit(GitJob(1), "request");
  EXPECT_THAT(scheduler_->Delete(job), StatusIs(absl::StatusCode::kFailedPrecondition));
  RunAll();
  EXPECT_THAT(scheduler_->Delete(job), IsOk());
  EXPECT_THAT(scheduler_->GetJob(job), StatusIs(absl::StatusCode::kNotFound));
  Open();
  EXPECT_THAT(scheduler_->GetJob(job), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(Submit(GitJob(1), "request"), "job-000002");
}

TEST_F(JobTableTest, EndedJobsAreDeletedAfterTheirRetentionAndRunningOnesAreNot) {
  options_.jobs.retention = absl::Hours(1);
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

TEST_F(JobTableTest, TooManyUnfinishedJobsAreRefused) {
  options_.jobs.max_unfinished_jobs = 2;
  Open();
  const std::string first = Submit(GitJob(1), "a");
  Submit(GitJob(1));
  EXPECT_THAT(scheduler_->Submit(GitJob(1), ""), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(Submit(GitJob(1), "a"), first) << "that is no further job";
  ASSERT_THAT(scheduler_->Cancel(first), IsOk());
  Submit(GitJob(1));
}

TEST_F(JobTableTest, ACallerWithTooManyJobsIsRefusedAndOthersAreNot) {
  options_.jobs.max_jobs_per_caller = 1;
  Open();
  ASSERT_THAT(scheduler_->Submit(GitJob(1), "", 0, "client a"), IsOk());
  const auto second = scheduler_->Submit(GitJob(1), "", 0, "client a");
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr("--max-jobs-per-caller is 1: client a has 1 unfinished jobs"));
  EXPECT_THAT(scheduler_->Submit(GitJob(1), "", 0, "client b"), IsOk());
}

TEST_F(JobTableTest, TheBytesOfJobsThatHaveNotEndedAreLimitedAndCountedAgainAfterARestart) {
  const v1::JobSpec spec = job::WithDefaults(GitJob(10));
  const auto bytes = static_cast<int64_t>(spec.ByteSizeLong());
  options_.jobs.max_queued_bytes_per_caller = 2 * bytes;
  options_.jobs.max_queued_bytes = 3 * bytes;
  Open();
  const auto first = scheduler_->Submit(spec, "", 0, "client a");
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(scheduler_->Submit(spec, "", 0, "client a"), IsOk());
  for (int start = 0; start < 2; ++start) {
    const auto third = scheduler_->Submit(spec, "", 0, "client a");
    EXPECT_THAT(third, StatusIs(absl::StatusCode::kResourceExhausted));
    EXPECT_THAT(std::string(third.status().message()),
                HasSubstr(absl::StrCat("--max-queued-bytes-per-caller is ", 2 * bytes,
                                       ": client a has ", 2 * bytes, " bytes")));
    Open();
  }
  ASSERT_THAT(scheduler_->Submit(spec, "", 0, "client b"), IsOk());
  EXPECT_THAT(scheduler_->Submit(spec, "", 0, "client c"),
              StatusIs(absl::StatusCode::kResourceExhausted));
  ASSERT_THAT(scheduler_->Cancel(*first), IsOk());
  EXPECT_THAT(scheduler_->Submit(spec, "", 0, "client c"), IsOk());
}

TEST_F(JobTableTest, ARetriedJobCountsForWhoRetriesIt) {
  options_.jobs.max_jobs_per_caller = 1;
  Open();
  const auto job = scheduler_->Submit(GitJob(1), "", 0, "client a");
  ASSERT_THAT(scheduler_->Cancel(*job), IsOk());
  ASSERT_THAT(scheduler_->Retry(*job, "client b"), IsOk());
  EXPECT_THAT(scheduler_->Submit(GitJob(1), "", 0, "client b"),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(scheduler_->Submit(GitJob(1), "", 0, "client a"), IsOk());
}

TEST_F(JobTableTest, AJobBelongsToWhoSubmittedItAndARetryChangesNothing) {
  const auto job = scheduler_->Submit(GitJob(1), "", 0, "client a");
  ASSERT_THAT(job, IsOk());
  ASSERT_THAT(scheduler_->Cancel(*job), IsOk());
  ASSERT_THAT(scheduler_->Retry(*job, "operator o"), IsOk());
  for (int start = 0; start < 2; ++start) {
    EXPECT_EQ(Get(*job).owner(), "client a");
    EXPECT_EQ(scheduler_->GetOwner(*job).value_or(""), "client a");
    Open();
  }
  EXPECT_THAT(scheduler_->GetOwner("job-000009"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(JobTableTest, AbandonsWhatWasUnfinished) {
  const std::string done = Submit(GitJob(1));
  RunAll();
  const std::string unfinished = Submit(GitJob(1));
  options_.jobs.abandon_unfinished = true;
  Open();
  EXPECT_EQ(Get(unfinished).state(), v1::JOB_STATE_ABANDONED);
  EXPECT_EQ(Get(done).state(), v1::JOB_STATE_DONE);
  EXPECT_TRUE(Lease().empty());
  EXPECT_EQ(Submit(GitJob(1)), "job-000003");
}

TEST_F(JobTableTest, AJobOfAnotherBuildIsPlannedAnew) {
  const std::string job = Submit(GitJob(1));
  EXPECT_THAT(Complete(Done(LeaseOne())), IsOk());
  std::vector<JobRow> rows = *store_.Jobs();
  rows[0].plan = "pin=0;";
  rows[0].spec = *store_.Spec(rows[0].sequence);
  Change change;
  change.jobs = rows;
  ASSERT_THAT(store_.Write({change}, true), IsOk());
  Open();
  EXPECT_EQ(LeaseOne().action().stage(), "pin");
  clock_.Advance(seconds(31));
  RunAll();
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_DONE);
}

TEST_F(JobTableTest, TasksThatAreTriedAgainAreShownWithTheirLastError) {
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
