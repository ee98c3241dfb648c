#include "services/coordinator/core/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/cas/digest.h"
#include "common/testing/status_matchers.h"
#include "services/coordinator/core/testing/memory_state_store.h"
#include "services/coordinator/core/testing/scripted_results.h"

namespace kernelmill::coordinator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SchedulerTest : public ::testing::Test {
 protected:
  void Open() {
    scheduler_.reset();
    auto opened = Scheduler::Open(options_, store_, clock_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    scheduler_ = *std::move(opened);
  }
  void SetUp() override { Open(); }

  std::string Submit(const v1::JobSpec& spec, const std::string& request = "") {
    const auto job = scheduler_->Submit(spec, request);
    EXPECT_TRUE(job.ok()) << job.status();
    return job.value_or("");
  }

  std::vector<v1::LeasedTask> Lease(int max = 1) {
    auto tasks = scheduler_->Lease(StageSet().set(), max);
    EXPECT_TRUE(tasks.ok()) << tasks.status();
    return tasks.value_or(std::vector<v1::LeasedTask>());
  }
  v1::LeasedTask LeaseOne() {
    const std::vector<v1::LeasedTask> tasks = Lease();
    EXPECT_EQ(tasks.size(), 1u);
    return tasks.empty() ? v1::LeasedTask() : tasks[0];
  }

  static v1::Completion For(const v1::LeasedTask& task) {
    v1::Completion completion;
    completion.mutable_lease()->set_task(task.task());
    completion.mutable_lease()->set_token(task.token());
    return completion;
  }
  v1::Completion Done(const v1::LeasedTask& task) {
    v1::Completion completion = For(task);
    *completion.mutable_result() = stages_.Run(task.action());
    return completion;
  }
  static v1::Completion Error(const v1::LeasedTask& task, absl::StatusCode code) {
    v1::Completion completion = For(task);
    completion.mutable_error()->set_code(static_cast<int>(code));
    completion.mutable_error()->set_message("why");
    return completion;
  }
  absl::Status Complete(const v1::Completion& completion) {
    const auto statuses = scheduler_->Complete({completion});
    return statuses.ok() ? statuses->at(0) : statuses.status();
  }

  // Runs tasks until there is none.
  void RunAll() {
    for (std::vector<v1::LeasedTask> tasks = Lease(); !tasks.empty(); tasks = Lease()) {
      EXPECT_THAT(Complete(Done(tasks[0])), IsOk());
    }
  }
  v1::JobStatus Get(const std::string& job) {
    auto status = scheduler_->GetJob(job);
    EXPECT_TRUE(status.ok()) << status.status();
    return status.value_or(v1::JobStatus());
  }

  Scheduler::Options options_;
  MemoryStateStore store_;
  FakeClock clock_;
  ScriptedStages stages_;
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(SchedulerTest, RunsAJobToItsDataset) {
  const std::string job = Submit(GitJob(2));
  EXPECT_EQ(job, "job-000001");
  RunAll();
  const v1::JobStatus status = Get(job);
  EXPECT_EQ(status.state(), v1::JOB_STATE_DONE);
  EXPECT_THAT(cas::CheckDigest(status.dataset()), IsOk());
  ASSERT_EQ(status.stages_size(), kStageCount);
  EXPECT_EQ(status.stages(2).stage(), "extract");
  EXPECT_EQ(status.stages(2).total(), 4);
  EXPECT_EQ(status.stages(2).done(), 4);
  EXPECT_EQ(status.stages(2).running(), 0);
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
  EXPECT_EQ(Get(job).stages(2).done(), 2);
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
  EXPECT_TRUE(scheduler_->Lease(extract, 64)->empty());
  EXPECT_EQ(Lease(64).size(), 1u);
}

TEST_F(SchedulerTest, JobsTakeTurns) {
  const std::string a = Submit(GitJob(3));
  const std::string b = Submit(GitJob(3));
  std::vector<std::string> order;
  for (const v1::LeasedTask& task : Lease(5)) order.push_back(task.job());
  EXPECT_THAT(order, ElementsAre(a, b, a, b, a));
}

TEST_F(SchedulerTest, AFailedJobTakesItsLeasesBack) {
  const std::string job = Submit(GitJob(1));
  for (const char* stage : {"pin", "fetch", "extract", "extract", "link"}) {
    const v1::LeasedTask task = LeaseOne();
    ASSERT_EQ(task.action().stage(), stage);
    EXPECT_THAT(Complete(Done(task)), IsOk());
  }
  const std::vector<v1::LeasedTask> tasks = Lease(2);
  EXPECT_THAT(Complete(Error(tasks[0], absl::StatusCode::kInternal)), IsOk());
  EXPECT_EQ(Get(job).state(), v1::JOB_STATE_FAILED);
  EXPECT_EQ(scheduler_->Renew({For(tasks[1]).lease()})->size(), 1u);
  EXPECT_THAT(Complete(Done(tasks[1])), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_TRUE(Lease(64).empty());
}

TEST_F(SchedulerTest, DrainLeasesNothingMoreButTakesResults) {
  Submit(GitJob(2));
  const v1::LeasedTask task = LeaseOne();
  scheduler_->Drain();
  EXPECT_THAT(scheduler_->Lease(StageSet().set(), 1), StatusIs(absl::StatusCode::kUnavailable));
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

}  // namespace
}  // namespace kernelmill::coordinator
