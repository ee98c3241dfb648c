#include "services/coordinator/core/dispatch/worker_registry.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "services/coordinator/core/testing/scheduler_fixture.h"

namespace kernelmill::coordinator {
namespace {

constexpr Clock::Time kNow{std::chrono::hours(1)};

WorkerRegistry::Runs Hear(WorkerRegistry& registry, const std::string& name, uint64_t incarnation,
                          const std::string& caller = "") {
  return registry.Hear({caller, name}, {.incarnation = incarnation}, kNow);
}

TEST(WorkerRegistry, ANewIncarnationEndsTheRunBefore) {
  WorkerRegistry registry;
  const auto first = Hear(registry, "a", 11);
  EXPECT_NE(first.current, 0u);
  EXPECT_EQ(first.ended, 0u);
  EXPECT_TRUE(first.began);
  EXPECT_EQ(Hear(registry, "a", 11).current, first.current);
  EXPECT_FALSE(Hear(registry, "a", 11).began);
  EXPECT_EQ(Hear(registry, "b", 12).ended, 0u);
  const auto second = Hear(registry, "a", 13);
  EXPECT_NE(second.current, first.current);
  EXPECT_EQ(second.ended, first.current);
  EXPECT_TRUE(second.began);
  EXPECT_EQ(Hear(registry, "a", 13).ended, 0u) << "only once";
}

TEST(WorkerRegistry, ANameThatTwoWorkersShareEndsNothing) {
  WorkerRegistry registry;
  Hear(registry, "a", 11);
  Hear(registry, "a", 12);
  EXPECT_EQ(Hear(registry, "a", 11).ended, 0u);
  EXPECT_EQ(Hear(registry, "a", 12).ended, 0u);
  EXPECT_EQ(Hear(registry, "a", 13).ended, 0u);
}

TEST(WorkerRegistry, AnotherCallerWithTheSameNameIsAnotherWorker) {
  WorkerRegistry registry;
  const auto first = Hear(registry, "a", 11, "worker w1");
  EXPECT_EQ(Hear(registry, "a", 12, "worker w2").ended, 0u);
  EXPECT_EQ(Hear(registry, "a", 11, "worker w1").current, first.current);
}

TEST(WorkerRegistry, WhoDoesNotSayIsNotKnown) {
  WorkerRegistry registry;
  EXPECT_EQ(Hear(registry, "a", 0).current, 0u);
  EXPECT_EQ(Hear(registry, "", 5).current, 0u);
}

TEST(WorkerRegistry, ForgetsWhomItHeardOfLongestAgo) {
  WorkerRegistry registry(2);
  Hear(registry, "a", 1);
  const auto b = Hear(registry, "b", 2);
  registry.HearAgain({"", "a"}, kNow);
  Hear(registry, "c", 3);
  EXPECT_EQ(Hear(registry, "a", 4).ended, 1u) << "a was heard of after b";
  EXPECT_NE(Hear(registry, "b", 2).current, b.current);
  EXPECT_EQ(registry.entries().size(), 2u);
}

TEST(WorkerRegistry, RenewalsAndResultsCountAsHeard) {
  WorkerRegistry registry;
  Hear(registry, "a", 1);
  registry.HearAgain({"", "a"}, kNow + std::chrono::seconds(7));
  registry.HearAgain({"", "stranger"}, kNow);
  ASSERT_EQ(registry.entries().size(), 1u) << "a worker that never asked stays unknown";
  EXPECT_EQ(registry.entries().begin()->second.heard, kNow + std::chrono::seconds(7));
}

}  // namespace

namespace {

using std::chrono::seconds;

class WorkerListTest : public SchedulerTest {
 protected:
  std::vector<v1::LeasedTask> AskAs(const std::string& worker, int tasks, int slots = 2,
                                    const std::string& caller = "") {
    LeaseQuery query = {.stages = StageSet().set(),
                        .max_tasks = tasks,
                        .worker = {caller, worker},
                        .facts = {.incarnation = 7, .version = "1.2", .slots = slots}};
    for (int i = 0; i < kStageCount; ++i) {
      query.facts.stages[i] = GetStageInfo(static_cast<StageId>(i)).version;
    }
    return Ask(query).tasks;
  }
  StageWorkers CountWorkers(StageId stage) {
    return scheduler_->CountWorkers().workers[static_cast<int>(stage)];
  }
};

TEST_F(WorkerListTest, SaysWhoHoldsWhatSinceWhen) {
  const std::string job = Submit(GitJob(3));
  AskAs("b", 2, /*slots=*/4, "worker w2");
  clock_.Advance(seconds(3));
  AskAs("a", 1);
  const std::vector<v1::WorkerInfo> workers = scheduler_->ListWorkers();
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_EQ(workers[0].name(), "a");
  EXPECT_EQ(workers[1].name(), "b");
  EXPECT_EQ(workers[1].caller(), "worker w2");
  EXPECT_EQ(workers[1].version(), "1.2");
  EXPECT_EQ(workers[1].slots(), 4);
  EXPECT_EQ(workers[1].stages_size(), kStageCount);
  EXPECT_EQ(workers[0].last_heard_unix_ms(), absl::ToUnixMillis(clock_.WallNow()));
  EXPECT_EQ(workers[1].last_heard_unix_ms(),
            absl::ToUnixMillis(clock_.WallNow() - absl::Seconds(3)));
  ASSERT_EQ(workers[1].running_size(), 2) << workers[1].ShortDebugString();
  const v1::RunningTask& task = workers[1].running(0);
  EXPECT_EQ(task.job(), job);
  EXPECT_EQ(task.stage(), "pin");
  EXPECT_EQ(task.source(), "r0");
  EXPECT_EQ(task.attempt(), 1);
  EXPECT_EQ(task.leased_unix_ms(), absl::ToUnixMillis(clock_.WallNow() - absl::Seconds(3)));
  EXPECT_EQ(workers[0].running_size(), 1);
}

TEST_F(WorkerListTest, ThoseNotHeardOfForLongAreLeftOut) {
  AskAs("a", 1);
  clock_.Advance(std::chrono::minutes(16));
  AskAs("b", 1);
  ASSERT_EQ(scheduler_->ListWorkers().size(), 1u);
  EXPECT_EQ(scheduler_->ListWorkers()[0].name(), "b");
}

TEST_F(WorkerListTest, VeryManyAreCutToThoseHeardOfLast) {
  for (int i = 0; i < 2500; ++i) {
    AskAs(absl::StrCat("w", i), 1);
    clock_.Advance(std::chrono::milliseconds(1));
  }
  const std::vector<v1::WorkerInfo> workers = scheduler_->ListWorkers();
  ASSERT_EQ(workers.size(), 2000u);
  EXPECT_GE(workers[0].last_heard_unix_ms(),
            absl::ToUnixMillis(clock_.WallNow() - absl::Milliseconds(2001)));
}

TEST_F(WorkerListTest, WorkersAreCountedAsIdleBusyAndSilent) {
  Submit(GitJob(1));
  AskAs("busy", 1);
  AskAs("idle", 1);
  AskAs("idle too", 1, /*slots=*/3);
  EXPECT_EQ(CountWorkers(StageId::kPin).same.busy, 1);
  EXPECT_EQ(CountWorkers(StageId::kPin).same.idle, 2);
  EXPECT_EQ(CountWorkers(StageId::kPin).same.slots, 7);
  clock_.Advance(seconds(31));
  AskAs("idle", 0);
  EXPECT_EQ(CountWorkers(StageId::kPin).same.silent, 2);
  EXPECT_EQ(CountWorkers(StageId::kPin).same.connected(), 1);
}

}  // namespace
}  // namespace kernelmill::coordinator
