#include <gtest/gtest.h>

#include <atomic>
#include <stop_token>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "common/worker/stage.h"
#include "common/worker/worker_fixture.h"

namespace kernelmill::worker {
namespace {

using WorkerLeasesTest = WorkerTest;

TEST_F(WorkerLeasesTest, RenewsWhileAStageRuns) {
  absl::Notification may_end;
  FakeStage stage([&](const v1::Action& action, cas::BlobStore& store) {
    may_end.WaitForNotification();
    return Echo(action, store);
  });
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1, /*ttl_ms=*/30);
  queue_.AwaitRenewals(3);
  may_end.Notify();
  EXPECT_TRUE(queue_.AwaitCompletions(1)[0].has_result());
}

TEST_F(WorkerLeasesTest, LostLeaseDropsTheResult) {
  absl::Notification may_end;
  FakeStage stage([&](const v1::Action& action, cas::BlobStore& store) {
    may_end.WaitForNotification();
    return Echo(action, store);
  });
  const auto worker = Start(stage, 2);
  queue_.Lose(1);
  queue_.Add(Toy(1), 1, /*ttl_ms=*/30);
  queue_.Add(Toy(2), 2, /*ttl_ms=*/30);
  queue_.AwaitRenewalAfterLoss();
  may_end.Notify();
  queue_.AwaitCompletions(1);
  ASSERT_TRUE(worker->Drain(absl::Seconds(60)));
  ASSERT_EQ(queue_.completions().size(), 1u);
  EXPECT_EQ(queue_.completions()[0].lease().token(), 2u);
}

// Runs until it is stopped.
class EndlessStage : public FakeStage {
 public:
  EndlessStage() : FakeStage(Echo) {}
  absl::StatusOr<v1::StageResult> RunUntil(const v1::Action& action, cas::BlobStore& store,
                                           const std::stop_token& stop) override {
    if (action.params().pair().partition() != 1) return Run(action, store);
    if (!began.HasBeenNotified()) began.Notify();
    absl::Notification stopped;
    const std::stop_callback notify(stop, [&] { stopped.Notify(); });
    stopped.WaitForNotification();
    return absl::CancelledError("no longer wanted");
  }
  absl::Notification began;
};

TEST_F(WorkerLeasesTest, ALostLeaseStopsItsStageAndFreesTheSlot) {
  EndlessStage stage;
  const auto worker = Start(stage);
  queue_.Lose(1);
  queue_.Add(Toy(1), 1);  // a long lease; it is renewed more often
  queue_.Add(Toy(2), 2);
  const std::vector<v1::Completion> completions = queue_.AwaitCompletions(1);
  ASSERT_TRUE(worker->Drain(absl::Seconds(60)));
  ASSERT_EQ(queue_.completions().size(), 1u) << "the lost one is not sent";
  EXPECT_EQ(completions[0].lease().token(), 2u);
  EXPECT_EQ(store_.results(), 1);
}

TEST_F(WorkerLeasesTest, ADrainStopsAStageThatDoesNotFinishInTime) {
  EndlessStage stage;
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  stage.began.WaitForNotification();
  EXPECT_TRUE(worker->Drain(absl::Milliseconds(10))) << "nothing of it runs any more";
  ASSERT_EQ(queue_.completions().size(), 1u);
  EXPECT_TRUE(queue_.completions()[0].has_handback());
}

TEST_F(WorkerLeasesTest, DrainFinishesWhatRunsAndLeasesNothingMore) {
  absl::Notification started, may_end;
  FakeStage stage([&](const v1::Action& action, cas::BlobStore& store) {
    started.Notify();
    may_end.WaitForNotification();
    return Echo(action, store);
  });
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  started.WaitForNotification();
  std::thread drain([&] { EXPECT_TRUE(worker->Drain(absl::InfiniteDuration())); });
  may_end.Notify();
  drain.join();
  queue_.Add(Toy(2), 2);
  ASSERT_EQ(queue_.completions().size(), 1u);
  EXPECT_TRUE(queue_.completions()[0].has_result());
  EXPECT_EQ(queue_.waiting(), 1u);
}

TEST_F(WorkerLeasesTest, DrainHandsBackWhatDoesNotFinishInTime) {
  absl::Notification started, may_end;
  FakeStage stage([&](const v1::Action& action, cas::BlobStore& store) {
    started.Notify();
    may_end.WaitForNotification();
    return Echo(action, store);
  });
  auto worker = Start(stage);
  queue_.Add(Toy(1), 7);
  started.WaitForNotification();
  EXPECT_FALSE(worker->Drain(absl::Milliseconds(10)));
  ASSERT_EQ(queue_.completions().size(), 1u);
  EXPECT_TRUE(queue_.completions()[0].has_handback());
  EXPECT_EQ(queue_.completions()[0].lease().token(), 7u);
  may_end.Notify();
  worker.reset();
  EXPECT_EQ(queue_.completions().size(), 1u) << "the late result must not be handed in";
}

TEST_F(WorkerLeasesTest, ManyShortTasksTakeFewCalls) {
  // Tasks that end during a call go with the next call, so the first call is made slow.
  constexpr int kTasks = 1000;  // fewer than a worker holds while none can be handed in
  std::atomic<int> ran = 0;
  FakeStage stage([&](const v1::Action& action, cas::BlobStore& store) {
    if (++ran == kTasks) queue_.SetSlowToTake(false);
    return Echo(action, store);
  });
  queue_.SetSlowToTake(true);
  for (int i = 1; i <= kTasks; ++i) queue_.Add(Toy(i), i);
  const auto worker = Start(stage, 2);
  const std::vector<v1::Completion> completions = queue_.AwaitCompletions(kTasks);
  EXPECT_EQ(completions.size(), size_t{kTasks});
  EXPECT_LT(queue_.asked_held().size(), size_t{kTasks / 2});
  EXPECT_LT(queue_.complete_calls(), 20);
}

TEST_F(WorkerLeasesTest, NothingIsLeasedBesideATaskThatRunsAlone) {
  absl::Notification started, may_end;
  FakeStage stage([&](const v1::Action& action, cas::BlobStore& store) {
    started.Notify();
    may_end.WaitForNotification();
    return Echo(action, store);
  });
  queue_.Add(Toy(1), 1, 60'000, /*alone=*/true);
  const auto worker = Start(stage, 4);
  started.WaitForNotification();
  queue_.Add(Toy(1), 2);  // cached by then: it cannot start the stage again
  const size_t calls = queue_.asked_held().size();
  absl::SleepFor(absl::Milliseconds(50));  // several polls; were it to lease, it would have by now
  EXPECT_EQ(queue_.asked_held().size(), calls);
  may_end.Notify();
  queue_.AwaitCompletions(2);
  EXPECT_EQ(queue_.asked_held()[calls], 0) << "the first to be asked for after it";
}

TEST_F(WorkerLeasesTest, ATaskThatHangsIsReported) {
  absl::Notification stuck, may_end;
  FakeStage stage([&](const v1::Action& action, cas::BlobStore& store) {
    may_end.WaitForNotification();
    return Echo(action, store);
  });
  Worker::Options options;
  options.name = "test";
  options.poll = absl::Milliseconds(5);
  options.task_timeout = absl::Milliseconds(20);
  options.on_stuck = [&] {
    if (!stuck.HasBeenNotified()) stuck.Notify();
  };
  Worker worker(options, queue_, store_, {&stage});
  worker.Start();
  queue_.Add(Toy(1), 1);
  EXPECT_TRUE(stuck.WaitForNotificationWithTimeout(absl::Seconds(60)));
  may_end.Notify();
  queue_.AwaitCompletions(1);
}

TEST_F(WorkerLeasesTest, DrainHandsBackWhatWaitsForASlot) {
  absl::Notification started, may_end;
  std::atomic<int> runs{0};
  FakeStage stage([&](const v1::Action& action, cas::BlobStore& store) {
    if (++runs > 1) {
      if (!started.HasBeenNotified()) started.Notify();
      may_end.WaitForNotification();
    }
    return Echo(action, store);
  });
  const auto worker = Start(stage);
  queue_.Add(Toy(0), 100);  // a short one, so that the next are leased ahead
  queue_.AwaitCompletions(1);
  for (uint64_t i = 1; i <= 5; ++i) queue_.Add(Toy(static_cast<int>(i)), i);
  started.WaitForNotification();
  while (queue_.waiting() > 0) absl::SleepFor(absl::Milliseconds(1));
  std::thread drain([&] { EXPECT_TRUE(worker->Drain(absl::InfiniteDuration())); });
  queue_.AwaitCompletions(2);  // those that waited are handed back while the other runs
  may_end.Notify();
  drain.join();
  int handed_back = 0;
  for (const v1::Completion& completion : queue_.completions()) {
    handed_back += completion.has_handback() ? 1 : 0;
  }
  EXPECT_EQ(queue_.completions().size(), 6u);
  EXPECT_EQ(handed_back, 4);
}

}  // namespace
}  // namespace kernelmill::worker
