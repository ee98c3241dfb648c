#include "services/coordinator/core/dispatch/unserved_stages.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "services/coordinator/core/testing/scheduler_fixture.h"

namespace kernelmill::coordinator {
namespace {

using std::chrono::seconds;

class UnservedStagesTest : public SchedulerTest {
 protected:
  // Makes a worker ask for tasks of `stages`, whose versions it adds `newer` to.
  void Ask(const std::string& worker, std::initializer_list<StageId> stages, int newer = 0) {
    LeaseQuery query = {.max_tasks = 1, .worker = {"", worker}, .facts = {.incarnation = 1}};
    for (const StageId stage : stages) {
      query.facts.stages[static_cast<int>(stage)] = GetStageInfo(stage).version + newer;
      if (newer == 0) query.stages.set(static_cast<int>(stage));
    }
    last_ = SchedulerTest::Ask(query).tasks;
  }
  void Pass(seconds time) {
    clock_.Advance(time);
    scheduler_->Tick();
  }
  int CountUnserved(const std::string& job) { return Get(job).unserved_size(); }

  std::vector<v1::LeasedTask> last_;
};

TEST_F(UnservedStagesTest, AStageWithoutAWorkerIsSaidAfterAGrace) {
  const std::string job = Submit(GitJob(3));
  Pass(seconds(1));
  EXPECT_EQ(CountUnserved(job), 0) << "within the grace";
  const uint64_t before = *scheduler_->JobVersion(job);
  const uint64_t notified = scheduler_->changed().generation();
  Pass(seconds(5));
  const v1::JobStatus status = Get(job);
  ASSERT_EQ(status.unserved_size(), 1) << status.ShortDebugString();
  EXPECT_EQ(status.unserved(0).stage(), "pin");
  EXPECT_EQ(status.unserved(0).version(), GetStageInfo(StageId::kPin).version);
  EXPECT_EQ(status.unserved(0).tasks(), 3);
  EXPECT_EQ(status.unserved(0).others_size(), 0);
  EXPECT_EQ(scheduler_->ListJobs().at(0).unserved_size(), 1);
  EXPECT_GT(*scheduler_->JobVersion(job), before) << "watchers must hear of it";
  EXPECT_GT(scheduler_->changed().generation(), notified);
  EXPECT_EQ(scheduler_->CountWorkers().unserved[static_cast<int>(StageId::kPin)], 3);
}

TEST_F(UnservedStagesTest, WorkersOfAnotherVersionAreNamed) {
  const std::string job = Submit(GitJob(1));
  for (int second = 0; second < 7; ++second) {
    Ask("newer 1", {StageId::kPin}, +1);
    Ask("newer 2", {StageId::kPin}, +1);
    Ask("newest", {StageId::kPin}, +2);
    Pass(seconds(1));
  }
  const v1::JobStatus status = Get(job);
  ASSERT_EQ(status.unserved_size(), 1) << status.ShortDebugString();
  const v1::Unserved& pin = status.unserved(0);
  const int32_t version = GetStageInfo(StageId::kPin).version;
  EXPECT_EQ(pin.version(), version);
  ASSERT_EQ(pin.others_size(), 2) << status.ShortDebugString();
  EXPECT_EQ(pin.others(0).version(), version + 1);
  EXPECT_EQ(pin.others(0).workers(), 2);
  EXPECT_EQ(pin.others(1).version(), version + 2);
  EXPECT_EQ(pin.others(1).workers(), 1);
}

TEST_F(UnservedStagesTest, AWorkerThatAsksServesItAtOnce) {
  const std::string job = Submit(GitJob(2));
  Pass(seconds(1));
  Pass(seconds(6));
  ASSERT_EQ(CountUnserved(job), 1);
  Ask("w", {StageId::kPin});
  ASSERT_EQ(last_.size(), 1u);
  Pass(seconds(1));
  EXPECT_EQ(CountUnserved(job), 0);
}

TEST_F(UnservedStagesTest, AWorkerThatFellSilentServesNothing) {
  options_.dispatch.lease_ttl = seconds(30);
  Open();
  const std::string job = Submit(GitJob(2));
  Ask("w", {StageId::kPin});
  ASSERT_EQ(last_.size(), 1u);
  for (int i = 0; i < 4; ++i) {
    clock_.Advance(seconds(10));
    const auto lost = scheduler_->Renew({For(last_[0]).lease()}, {"", "w"});
    ASSERT_TRUE(lost.ok());
    EXPECT_TRUE(lost->empty());
    scheduler_->Tick();
    EXPECT_EQ(CountUnserved(job), 0) << "it renews, and so is there";
  }
  Pass(seconds(31));
  EXPECT_EQ(CountUnserved(job), 0) << "within the grace";
  Pass(seconds(6));
  EXPECT_EQ(CountUnserved(job), 1);
}

TEST_F(UnservedStagesTest, WhoHoldsALeaseFromBeforeARestartServesItsStage) {
  const std::string job = Submit(GitJob(2));
  Ask("w", {StageId::kPin});
  ASSERT_EQ(last_.size(), 1u);
  Open();
  Pass(seconds(1));
  Pass(seconds(20));
  EXPECT_EQ(CountUnserved(job), 0);
}

TEST_F(UnservedStagesTest, AJobThatHasEndedHasNone) {
  const std::string job = Submit(GitJob(1));
  Pass(seconds(1));
  Pass(seconds(6));
  ASSERT_EQ(CountUnserved(job), 1);
  ASSERT_TRUE(scheduler_->Cancel(job).ok());
  EXPECT_EQ(CountUnserved(job), 0);
  Pass(seconds(1));
  EXPECT_EQ(scheduler_->CountWorkers().unserved[static_cast<int>(StageId::kPin)], 0);
}

}  // namespace
}  // namespace kernelmill::coordinator
