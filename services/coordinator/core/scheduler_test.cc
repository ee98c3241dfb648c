#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "common/testing/status_matchers.h"
#include "services/coordinator/core/testing/scheduler_fixture.h"

namespace kernelmill::coordinator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using std::chrono::seconds;

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

TEST_F(SchedulerTest, WhatASearchFoundSurvivesARestart) {
  stages_.found = {{"a", {"https://example.org/x", "https://example.org/y"}}};
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
  EXPECT_EQ(Lock(job).sources_size(), 3);
}

// Returns the sources of all failures, read a page at a time.
std::vector<std::string> ReadPages(Scheduler& scheduler, v1::ListFailuresRequest request) {
  std::vector<std::string> sources;
  do {
    const auto page = scheduler.ListFailures(request);
    EXPECT_THAT(page, IsOk());
    if (!page.ok()) break;
    for (const v1::Failure& failure : page->failures()) sources.push_back(failure.source());
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  return sources;
}

TEST_F(SchedulerTest, ReadPagesFailuresAreTheSameWhileTheJobRunsAndAfterItsEnd) {
  const std::string job = Submit(GitJob(7));
  std::vector<std::string> expected;
  for (int i = 0; i < 5; ++i) {
    const v1::LeasedTask task = LeaseOne();
    expected.push_back(task.action().params().pin().source().git());
    EXPECT_THAT(Complete(Error(task, absl::StatusCode::kNotFound)), IsOk());
  }
  v1::ListFailuresRequest request;
  request.set_job(job);
  EXPECT_EQ(ReadPages(*scheduler_, request), expected);
  request.set_page_size(2);
  EXPECT_EQ(ReadPages(*scheduler_, request), expected);
  const auto first = scheduler_->ListFailures(request);
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(scheduler_->ReadLock(job, [](const v1::JobSpec&) { return true; }),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  RunAll();
  EXPECT_EQ(Get(job).failure_count(), 5);
  EXPECT_EQ(ReadPages(*scheduler_, request), expected);
  request.set_page_token(first->next_page_token());  // from before the failures
  EXPECT_EQ(ReadPages(*scheduler_, request),
            std::vector<std::string>(expected.begin() + 2, expected.end()));
  for (const char* token : {"x", "1.2.3", "99.0.0.1", "1.0.0.99999999"}) {
    request.set_page_token(token);
    EXPECT_THAT(scheduler_->ListFailures(request), StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST_F(SchedulerTest, AnAnswerWithALargeActionHasNoOther) {
  v1::JobSpec spec = GitJob(3);
  for (v1::Source& source : *spec.mutable_sources()) source.set_category("c");
  for (int i = 0; i < 2000; ++i) {
    spec.mutable_sources(0)->add_include(absl::StrCat(std::string(3000, 'x'), i));
  }
  Submit(spec);
  EXPECT_EQ(Lease(3).size(), 1u) << "6 MB";
  EXPECT_EQ(Lease(3).size(), 2u);
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
    // The leases of the others were not synced, so they may be lost. The tasks must exist in any
    // case.
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

TEST_F(SchedulerTest, UnknownJobsAndTasksAreNamed) {
  EXPECT_THAT(scheduler_->GetJob("job-000009"), StatusIs(absl::StatusCode::kNotFound));
  v1::Completion completion;
  completion.mutable_lease()->set_task(TaskId(9, 9));
  completion.mutable_lease()->set_token(1);
  EXPECT_THAT(Complete(completion), StatusIs(absl::StatusCode::kInvalidArgument));
  completion.mutable_handback();
  EXPECT_THAT(Complete(completion), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace kernelmill::coordinator
