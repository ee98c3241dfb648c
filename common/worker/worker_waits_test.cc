#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "common/base/log.h"
#include "common/base/retry_after.h"
#include "common/worker/stage.h"
#include "common/worker/worker_fixture.h"

namespace kernelmill::worker {
namespace {

using WorkerWaitsTest = WorkerTest;

TEST_F(WorkerWaitsTest, WaitsForAnUnreachableCoordinator) {
  FakeStage stage(Echo);
  queue_.FailNext(5);
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  EXPECT_EQ(queue_.AwaitCompletions(1).size(), 1u);
}

TEST_F(WorkerWaitsTest, TheLogSaysThatTroubleIsOver) {
  ConfigureLog("test", LogLevel::kInfo);
  ::testing::internal::CaptureStderr();
  FakeStage stage([&](const v1::Action& action, cas::BlobStore& store) {
    store_.FailNext(2, absl::UnavailableError("unreachable"));
    return Echo(action, store);
  });
  queue_.FailNext(3);
  auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  queue_.AwaitCompletions(1);
  worker.reset();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, ::testing::HasSubstr("\"message\":\"the coordinator answers again\""));
  EXPECT_THAT(log, ::testing::HasSubstr("\"message\":\"the store answers again\""));
}

TEST_F(WorkerWaitsTest, HandsInWhatTheCoordinatorMissed) {
  FakeStage stage([&](const v1::Action& action, cas::BlobStore& store) {
    queue_.FailNext(5);
    return Echo(action, store);
  });
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  queue_.AwaitCompletions(1);
  EXPECT_EQ(stage.runs, 1);
}

TEST_F(WorkerWaitsTest, AnUnreachableStoreFailsNoTask) {
  std::atomic<int> runs{0};
  FakeStage stage([&](const v1::Action& action, cas::BlobStore& store) {
    if (runs++ == 0) store_.FailNext(7, absl::UnavailableError("unreachable"));
    return Echo(action, store);
  });
  store_.FailNext(5, absl::UnavailableError("unreachable"));
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  EXPECT_TRUE(queue_.AwaitCompletions(1)[0].has_result());
  EXPECT_EQ(stage.runs, 1) << "the work is not repeated";
  EXPECT_EQ(store_.results(), 1);
}

TEST_F(WorkerWaitsTest, AFullStoreIsWaitedForAndTheCoordinatorLearnsWhy) {
  constexpr int kForLong = 1 << 30;
  FakeStage stage([&](const v1::Action& action, cas::BlobStore& store) {
    store_.FailNext(kForLong, absl::ResourceExhaustedError("the store's disk is full"));
    return Echo(action, store);
  });
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  EXPECT_EQ(queue_.AwaitWaitedFor(), "the store: the store's disk is full");
  EXPECT_TRUE(queue_.completions().empty());
  store_.FailNext(0, absl::OkStatus());
  EXPECT_TRUE(queue_.AwaitCompletions(1)[0].has_result());
  EXPECT_EQ(stage.runs, 1);
}

TEST_F(WorkerWaitsTest, ATaskThatWaitsForTheStoreDoesNotHang) {
  std::atomic<bool> stuck = false;
  FakeStage stage([&](const v1::Action& action, cas::BlobStore& store) {
    store_.FailNext(40, absl::ResourceExhaustedError("the store's disk is full"));
    return Echo(action, store);
  });
  Worker::Options options;
  options.name = "test";
  options.poll = absl::Milliseconds(5);
  options.task_timeout = absl::Milliseconds(200);
  options.on_stuck = [&] { stuck = true; };
  options.unreachable_backoff.first_backoff = absl::Milliseconds(10);
  options.unreachable_backoff.max_backoff = absl::Milliseconds(10);
  Worker worker(options, queue_, store_, {&stage});
  worker.Start();
  queue_.Add(Toy(1), 1);
  EXPECT_TRUE(queue_.AwaitCompletions(1)[0].has_result());
  EXPECT_FALSE(stuck);
}

TEST_F(WorkerWaitsTest, ADrainEndsTheWaitForAFullStore) {
  constexpr int kForLong = 1 << 30;
  FakeStage stage(Echo);
  store_.FailNext(kForLong, absl::ResourceExhaustedError("the store's disk is full"));
  auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  queue_.AwaitWaitedFor();
  EXPECT_TRUE(worker->Drain(absl::Milliseconds(10)));
  EXPECT_TRUE(queue_.AwaitCompletions(1)[0].has_handback());
  worker.reset();
  EXPECT_EQ(stage.runs, 0);
}

TEST_F(WorkerWaitsTest, UnavailableOfAStageWhoseStoreAnswersIsHandedIn) {
  FakeStage stage([](const v1::Action&, cas::BlobStore&) -> absl::StatusOr<v1::StageResult> {
    return absl::UnavailableError("git server down");
  });
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  EXPECT_EQ(queue_.AwaitCompletions(1)[0].error().code(),
            static_cast<int>(absl::StatusCode::kUnavailable));
}

TEST_F(WorkerWaitsTest, HowLongAHostAsksToBeLeftAloneIsHandedIn) {
  FakeStage stage([](const v1::Action&, cas::BlobStore&) -> absl::StatusOr<v1::StageResult> {
    absl::Status busy = absl::UnavailableError("too many requests");
    SetRetryAfter(busy, absl::Seconds(90));
    return busy;
  });
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  EXPECT_EQ(queue_.AwaitCompletions(1)[0].retry_after_ms(), 90'000);
}

}  // namespace
}  // namespace kernelmill::worker
