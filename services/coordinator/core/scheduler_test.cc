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
    return Ask({.stages = StageSet().set(), .max_tasks = max}).tasks;
  }
  Scheduler::Leases Ask(const Scheduler::Asker& asker) {
    auto leases = scheduler_->Lease(asker);
    EXPECT_TRUE(leases.ok()) << leases.status();
    return leases.value_or(Scheduler::Leases());
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

// A worker that ends on one file of the source: runs all tasks, and ends at extractions whose piece
// has the file.
class PoisonTest : public SchedulerTest {
 protected:
  // Whether a whole shard's or a piece's extraction reads file `poison_`.
  bool Ends(const v1::Action& action) const {
    if (action.stage() != "extract" || action.params().extract().set_aside() != "") return false;
    if (!action.params().has_extract()) return true;
    const v1::ExtractParams& piece = action.params().extract();
    return piece.first() <= poison_ && poison_ < piece.first() + piece.count();
  }
  v1::JobStatus Run(const std::string& job) {
    while (Get(job).state() == v1::JOB_STATE_RUNNING) {
      ++incarnation_;
      for (bool alive = true; alive && Get(job).state() == v1::JOB_STATE_RUNNING;) {
        const auto tasks =
            Ask({.stages = StageSet().set(), .worker = "w", .incarnation = incarnation_}).tasks;
        if (tasks.empty()) {
          clock_.Advance(seconds(31));
          continue;
        }
        actions_.push_back(tasks[0].action());
        alive = !Ends(tasks[0].action());
        deaths_ += alive ? 0 : 1;
        if (alive) {
          EXPECT_THAT(Complete(Done(tasks[0])), IsOk());
        }
        if (reopen_) Open();
      }
    }
    return Get(job);
  }

  int poison_ = 6;
  bool reopen_ = false;
  uint64_t incarnation_ = 0;
  int deaths_ = 0;
  std::vector<v1::Action> actions_;
};

TEST_F(PoisonTest, AShardIsHalvedUntilTheFileThatEndsItsWorkerStandsAlone) {
  stages_.shards = {{"r0", 1}};  // of 10 files
  for (const bool reopen : {false, true}) {
    reopen_ = reopen;
    actions_.clear();
    deaths_ = 0;
    const v1::JobStatus status = Run(Submit(GitJob(1)));
    EXPECT_EQ(status.state(), v1::JOB_STATE_DONE);
    ASSERT_EQ(status.failures_size(), 1);
    EXPECT_EQ(status.failures(0).stage(), "extract");
    EXPECT_EQ(status.failures(0).path(), "file 6");
    EXPECT_EQ(status.failures(0).files(), 1);
    std::vector<int> pieces;
    const v1::Action* link = nullptr;
    for (const v1::Action& action : actions_) {
      if (action.stage() == "link") link = &action;
      if (action.stage() == "extract" && action.params().extract().set_aside() != "") {
        EXPECT_EQ(action.params().extract().first(), poison_);
        EXPECT_EQ(action.params().extract().count(), 1);
      }
    }
    ASSERT_NE(link, nullptr);
    // [0,5) [5,8)->[5,7)->[5,6) [6,7) [7,8); [8,10): 5 pieces of the one shard.
    EXPECT_THAT(link->params().link().pieces(), ElementsAre(5));
    EXPECT_EQ(link->inputs_size(), 1 + 5);
    EXPECT_LT(deaths_, 15) << "every level must cost a few lives only";
  }
}

TEST_F(PoisonTest, TheDatasetDoesNotDependOnWhereWorkersEndedByChance) {
  stages_.shards = {{"r0", 1}};
  poison_ = -1;  // only the whole shard ends its worker, as by a machine that was too small
  const v1::JobStatus status = Run(Submit(GitJob(1)));
  EXPECT_EQ(status.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(status.failures_size(), 0) << "halves that succeed lose nothing";
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
