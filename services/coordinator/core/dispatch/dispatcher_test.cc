#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "common/cas/digest.h"
#include "common/testing/status_matchers.h"
#include "common/worker/stage.h"
#include "services/coordinator/core/testing/scheduler_fixture.h"

namespace kernelmill::coordinator {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using std::chrono::seconds;
using ::testing::ElementsAre;

class DispatcherTest : public SchedulerTest {};

TEST_F(DispatcherTest, DrainLeasesNothingMoreButTakesResults) {
  Submit(GitJob(2));
  const v1::LeasedTask task = LeaseOne();
  scheduler_->Drain();
  EXPECT_THAT(scheduler_->Lease({.stages = StageSet().set()}),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(Complete(Done(task)), IsOk());
}

TEST_F(DispatcherTest, ExpiredLeaseIsGivenAgain) {
  Submit(GitJob(1));
  const v1::LeasedTask task = LeaseOne();
  EXPECT_TRUE(Lease().empty());
  const uint64_t seen = scheduler_->ready().generation();
  clock_.Advance(seconds(30));
  scheduler_->Tick();
  EXPECT_NE(scheduler_->ready().generation(), seen) << "waiting workers must be woken";
  EXPECT_EQ(LeaseOne().task(), task.task());
}

TEST_F(DispatcherTest, RenewalKeepsALease) {
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

TEST_F(DispatcherTest, TasksGoOnlyToWorkersOfTheirStage) {
  Submit(GitJob(1));
  StageSet extract;
  extract.set(static_cast<int>(StageId::kExtract));
  EXPECT_TRUE(Ask({.stages = extract, .max_tasks = 64}).tasks.empty());
  EXPECT_EQ(Lease(64).size(), 1u);
}

// A job of sources that no other job has.
v1::JobSpec MakeJob(const std::string& prefix, int sources) {
  v1::JobSpec spec = GitJob(sources);
  for (v1::Source& source : *spec.mutable_sources()) source.set_git(prefix + source.git());
  return spec;
}

TEST_F(DispatcherTest, JobsTakeTurns) {
  const std::string a = Submit(GitJob(3));
  const std::string b = Submit(MakeJob("other ", 3));
  std::vector<std::string> order;
  for (const v1::LeasedTask& task : Lease(5)) order.push_back(task.job());
  EXPECT_THAT(order, ElementsAre(a, b, a, b, a));
}

TEST_F(DispatcherTest, TheHighestPriorityGoesFirst) {
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

TEST_F(DispatcherTest, AJobWithoutLeasesGoesBeforeOneThatHasMany) {
  Submit(GitJob(6));
  Lease(3);
  const std::string late = Submit(GitJob(6));
  for (const v1::LeasedTask& task : Lease(3)) EXPECT_EQ(task.job(), late);
}

TEST_F(DispatcherTest, OwnersShareWorkersHoweverManyJobsTheyHave) {
  for (const char* prefix : {"a ", "b ", "c "}) {
    ASSERT_THAT(scheduler_->Submit(MakeJob(prefix, 4), "", 0, "client many"), IsOk());
  }
  const auto single = scheduler_->Submit(MakeJob("d ", 4), "", 0, "client one");
  ASSERT_THAT(single, IsOk());
  int of_one = 0;
  for (const v1::LeasedTask& task : Lease(6)) of_one += task.job() == *single ? 1 : 0;
  EXPECT_EQ(of_one, 3);
}

TEST_F(DispatcherTest, AnOwnerAtTheLimitWaitsForItsOwnTasks) {
  options_.dispatch.leased_per_owner = 2;
  Open();
  ASSERT_THAT(scheduler_->Submit(MakeJob("a ", 4), "", 0, "client a"), IsOk());
  ASSERT_THAT(scheduler_->Submit(MakeJob("b ", 4), "", 0, "client a"), IsOk());
  const std::vector<v1::LeasedTask> first = Lease(8);
  ASSERT_EQ(first.size(), 2u);
  ASSERT_THAT(scheduler_->Submit(MakeJob("c ", 1), "", 0, "client b"), IsOk());
  EXPECT_EQ(Lease(8).size(), 1u) << "another owner's task runs";
  const uint64_t before = scheduler_->ready().generation();
  EXPECT_THAT(Complete(Done(first[0])), IsOk());
  EXPECT_NE(scheduler_->ready().generation(), before) << "waiting workers ask again";
  EXPECT_EQ(Lease(8).size(), 1u);
}

TEST_F(DispatcherTest, EqualActionsRunOnceAlsoAcrossJobs) {
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

TEST_F(DispatcherTest, ATaskThatUsesNoCacheSharesNoResultThatMayBeFromThere) {
  Submit(GitJob(1));
  const auto anew = scheduler_->Submit(GitJob(1), "", 0, "", /*no_cache=*/true);
  const auto anew_too = scheduler_->Submit(GitJob(1), "", 0, "", /*no_cache=*/true);
  ASSERT_THAT(anew, IsOk());
  std::vector<v1::LeasedTask> pins = Lease(64);
  ASSERT_EQ(pins.size(), 2u) << "one with the cache; those without share theirs";
  EXPECT_NE(pins[0].no_cache(), pins[1].no_cache());
  for (v1::LeasedTask& pin : pins) EXPECT_THAT(Complete(Done(pin)), IsOk());
  RunAll();
  EXPECT_EQ(Get(*anew).state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(Get(*anew_too).state(), v1::JOB_STATE_DONE);
}

TEST_F(DispatcherTest, WithoutCacheSurvivesARestartAndARetrySaysAnewWhetherItIs) {
  const auto job = scheduler_->Submit(GitJob(1), "", 0, "", /*no_cache=*/true);
  ASSERT_THAT(job, IsOk());
  EXPECT_TRUE(Get(*job).no_cache());
  Open();
  const v1::LeasedTask pin = LeaseOne();
  EXPECT_TRUE(pin.no_cache());
  EXPECT_THAT(Complete(Done(pin)), IsOk());
  RunAll();
  EXPECT_TRUE(Get(*job).no_cache());
  ASSERT_THAT(scheduler_->Retry(*job), IsOk());
  EXPECT_FALSE(LeaseOne().no_cache());
  RunAll();
  clock_.Advance(seconds(31));
  RunAll();
  ASSERT_THAT(scheduler_->Retry(*job, "", /*no_cache=*/true), IsOk());
  Open();
  EXPECT_TRUE(LeaseOne().no_cache());
}

TEST_F(DispatcherTest, AHostIsCalledOnByAFewTasksAtATime) {
  options_.dispatch.host_limit = 2;
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

TEST_F(DispatcherTest, AHostLeavesASlotForOtherHosts) {
  v1::JobSpec spec;
  spec.set_name("job");
  for (const char* url : {"https://a.org/1", "https://a.org/2", "https://b.org/1"}) {
    spec.add_sources()->set_git(url);
  }
  LeaseQuery query = {.stages = StageSet().set(),
                      .max_tasks = 64,
                      .worker = {"", "w"},
                      .facts = {.incarnation = 1, .slots = 2}};
  for (int i = 0; i < kStageCount; ++i) {
    query.facts.stages[i] = GetStageInfo(static_cast<StageId>(i)).version;
  }
  Submit(spec);
  EXPECT_EQ(Ask(query).tasks.size(), 2u) << "one of a.org, one of b.org";
  options_.dispatch.share_slots = false;
  Open();
  EXPECT_EQ(Ask(query).tasks.size(), 1u) << "the other one of a.org";
}

TEST_F(DispatcherTest, AStartedAnewWorkersTasksAreFreeAtOnce) {
  Submit(GitJob(1));
  const LeaseQuery before = {
      .stages = StageSet().set(), .worker = {"", "w"}, .facts = {.incarnation = 1}};
  const std::vector<v1::LeasedTask> lost = Ask(before).tasks;
  ASSERT_EQ(lost.size(), 1u);
  LeaseQuery after = before;
  after.facts.incarnation = 2;
  const std::vector<v1::LeasedTask> again = Ask(after).tasks;
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].task(), lost[0].task());
  EXPECT_TRUE(again[0].alone()) << "it may be what ended the worker";
  EXPECT_THAT(Complete(Done(lost[0])), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(DispatcherTest, ASuspectRunsAloneAndBusyWorkersAreAskedToFinishFirst) {
  Submit(GitJob(3));
  ASSERT_EQ(Lease(2).size(), 2u);
  clock_.Advance(seconds(30));
  LeaseQuery busy = {.stages = StageSet().set(), .max_tasks = 64, .held = 1};
  Leases leases = Ask(busy);
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

TEST_F(DispatcherTest, ALeaseOutlivesTheCoordinator) {
  Submit(GitJob(1));
  const v1::LeasedTask task = LeaseOne();
  Open();
  EXPECT_TRUE(Lease().empty()) << "its worker may be at it still";
  EXPECT_TRUE(scheduler_->Renew({For(task).lease()})->empty());
  EXPECT_THAT(Complete(Done(task)), IsOk());
}

TEST_F(DispatcherTest, ALeaseFromBeforeARestartRunsOutToo) {
  Submit(GitJob(1));
  const v1::LeasedTask task = LeaseOne();
  Open();
  clock_.Advance(seconds(30));
  const v1::LeasedTask again = LeaseOne();
  EXPECT_EQ(again.task(), task.task());
  EXPECT_NE(task.token(), again.token());
  EXPECT_THAT(Complete(Done(task)), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(DispatcherTest, AHostThatAsksForItIsLeftAloneAndTheOthersAreNot) {
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
  RunAll();  // all of b.org, except tasks that wait for the whole job
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
