#include "services/coordinator/core/state/observation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "services/coordinator/core/testing/scheduler_fixture.h"

namespace kernelmill::coordinator {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class ObservationTest : public SchedulerTest {
 protected:
  ObservationTest() {
    options_.outcomes.retry_backoff = seconds(1);
    options_.observer.happened = [this](const Observation& observation) {
      scheduler_->Stats();  // no lock is held
      happened_.push_back(observation);
    };
  }

  template <typename T>
  std::vector<T> All() const {
    std::vector<T> all;
    for (const Observation& observation : happened_) {
      if (const T* const one = std::get_if<T>(&observation)) all.push_back(*one);
    }
    return all;
  }
  StageTasks CountTasks(StageId stage) {
    return scheduler_->Stats().tasks[static_cast<int>(stage)];
  }

  std::vector<Observation> happened_;
};

TEST_F(ObservationTest, ALeaseSaysHowLongItsTaskWaitedAndRan) {
  const std::string job = Submit(GitJob(1));
  clock_.Advance(seconds(2));
  const v1::LeasedTask task = LeaseOne();
  clock_.Advance(seconds(3));
  ASSERT_TRUE(Complete(Done(task)).ok());
  const std::vector<LeaseBegan> began = All<LeaseBegan>();
  ASSERT_THAT(began, SizeIs(1));
  EXPECT_EQ(began[0].task.job, job);
  EXPECT_EQ(began[0].task.task, task.task());
  EXPECT_EQ(began[0].task.stage, StageId::kPin);
  EXPECT_DOUBLE_EQ(began[0].ready_seconds, 2);
  const std::vector<LeaseOver> over = All<LeaseOver>();
  ASSERT_THAT(over, SizeIs(1));
  EXPECT_DOUBLE_EQ(over[0].seconds, 3);
  EXPECT_EQ(over[0].lost, LostBy::kNot);
}

TEST_F(ObservationTest, AnErrorSaysWhatWasDecided) {
  options_.outcomes.max_attempts = 2;
  Open();
  Submit(GitJob(1));
  ASSERT_TRUE(Complete(Error(LeaseOne(), absl::StatusCode::kUnavailable)).ok());
  EXPECT_EQ(CountTasks(StageId::kPin).backing_off, 1);
  EXPECT_EQ(CountTasks(StageId::kPin).ready, 0);
  clock_.Advance(seconds(3));
  ASSERT_TRUE(Complete(Error(LeaseOne(), absl::StatusCode::kUnavailable)).ok());
  const std::vector<ErrorTaken> errors = All<ErrorTaken>();
  ASSERT_THAT(errors, SizeIs(2));
  EXPECT_EQ(errors[0].code, absl::StatusCode::kUnavailable);
  EXPECT_EQ(errors[0].next, Next::kRetry);
  EXPECT_EQ(errors[1].next, Next::kFailed);
}

TEST_F(ObservationTest, ALostLeaseSaysWhyAndItsTaskIsSuspect) {
  const std::string job = Submit(GitJob(1));
  LeaseOne();
  clock_.Advance(seconds(31));
  scheduler_->Tick();
  EXPECT_EQ(scheduler_->Stats().suspects, 1);
  LeaseOne();
  ASSERT_TRUE(scheduler_->Cancel(job).ok());
  std::vector<LostBy> lost;
  for (const LeaseOver& over : All<LeaseOver>()) lost.push_back(over.lost);
  EXPECT_THAT(lost, ElementsAre(LostBy::kExpired, LostBy::kCancelled));
  ASSERT_THAT(All<JobOver>(), SizeIs(1));
  EXPECT_EQ(All<JobOver>()[0].state, v1::JOB_STATE_CANCELLED);
  EXPECT_EQ(scheduler_->Stats().suspects, 0);
}

TEST_F(ObservationTest, ResultsSayWhereTheyAreFromAndWhatTheDatasetHas) {
  Submit(GitJob(1));
  Submit(GitJob(1));  // the same
  const std::vector<v1::LeasedTask> tasks = Lease(2);
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(CountTasks(StageId::kPin).sharing, 1);
  EXPECT_EQ(CountTasks(StageId::kPin).leased, 1);
  v1::Completion cached = Done(tasks[0]);
  cached.set_cached(true);
  ASSERT_TRUE(Complete(cached).ok());
  const std::vector<ResultTaken> first = All<ResultTaken>();
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_EQ(first[0].origin, Origin::kCache);
  EXPECT_EQ(first[0].dataset, nullptr);
  EXPECT_EQ(first[1].origin, Origin::kShared);
  EXPECT_EQ(CountTasks(StageId::kPin).sharing, 0);
  RunAll();
  int told = 0;
  for (const ResultTaken& taken : All<ResultTaken>()) told += taken.dataset != nullptr ? 1 : 0;
  EXPECT_EQ(told, 2 * 2) << "resolve and manifest of each job, shared or not";
  ASSERT_THAT(All<JobOver>(), SizeIs(2));
  EXPECT_EQ(All<JobOver>()[0].state, v1::JOB_STATE_DONE);
}

TEST_F(ObservationTest, TasksThatWaitForTheirHostAreTold) {
  options_.dispatch.host_limit = 1;
  Open();
  v1::JobSpec spec = GitJob(3);
  for (v1::Source& source : *spec.mutable_sources()) {
    source.set_git("https://host/" + source.git());
  }
  Submit(spec);
  clock_.Advance(seconds(2));
  ASSERT_THAT(Lease(3), SizeIs(1));
  const QueueStats stats = scheduler_->Stats();
  EXPECT_EQ(CountTasks(StageId::kPin).waiting_for_host, 2);
  EXPECT_EQ(CountTasks(StageId::kPin).ready, 0);
  ASSERT_THAT(stats.hosts.tasks, SizeIs(1));
  EXPECT_EQ(stats.hosts.tasks.begin()->first, "host");
  EXPECT_EQ(stats.hosts.tasks.begin()->second.running, 1);
  EXPECT_EQ(stats.hosts.tasks.begin()->second.waiting, 2);
}

TEST_F(ObservationTest, TheHeadOfTheQueueSaysSinceWhenItIsReady) {
  Submit(GitJob(1));
  const int64_t begin = scheduler_->Stats().unix_ms;
  clock_.Advance(seconds(7));
  EXPECT_EQ(CountTasks(StageId::kPin).ready, 1);
  EXPECT_EQ(CountTasks(StageId::kPin).ready_since_ms, begin);
  EXPECT_EQ(CountTasks(StageId::kExtract).ready_since_ms, 0);
}

}  // namespace
}  // namespace kernelmill::coordinator
