#include "common/worker/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "common/worker/stage.h"
#include "common/worker/worker_fixture.h"

namespace kernelmill::worker {
namespace {

TEST_F(WorkerTest, RunsOnceAndAnswersFromTheCacheAfter) {
  FakeStage stage(Echo);
  const auto worker = Start(stage, 3);
  queue_.Add(Toy(1), 1);
  const v1::Completion first = queue_.AwaitCompletions(1)[0];
  queue_.Add(Toy(1), 2);
  const v1::Completion second = queue_.AwaitCompletions(2)[1];
  EXPECT_EQ(stage.runs, 1);
  EXPECT_FALSE(first.cached());
  EXPECT_TRUE(second.cached());
  EXPECT_EQ(first.result().SerializeAsString(), second.result().SerializeAsString());
  EXPECT_EQ(second.lease().token(), 2u);
}

TEST_F(WorkerTest, RunsAgainWhenAnOutputIsGoneFromTheStore) {
  FakeStage stage(Echo);
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  EXPECT_TRUE(store_.Drop(queue_.AwaitCompletions(1)[0].result().outputs(0).digest()));
  queue_.Add(Toy(1), 2);
  EXPECT_FALSE(queue_.AwaitCompletions(2)[1].cached());
  EXPECT_EQ(stage.runs, 2);
}

TEST_F(WorkerTest, TakesRubbishInTheCacheForAMiss) {
  FakeStage stage(Echo);
  cas::ActionResult rubbish;
  rubbish.set_stdout_raw("\xff\xff");
  ASSERT_TRUE(store_.PutActionResult(ActionDigest(Toy(1)), rubbish).ok());
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  EXPECT_TRUE(queue_.AwaitCompletions(1)[0].has_result());
  EXPECT_EQ(stage.runs, 1);
}

TEST_F(WorkerTest, WithoutACacheTheStageRunsAndItsResultReplacesWhatWasThere) {
  v1::StageResult false_result;
  AddCounter(false_result, "forged", 1);
  ASSERT_TRUE(store_.PutActionResult(ActionDigest(Toy(1)), EncodeResult(false_result)).ok());
  bool found = true;
  FakeStage stage([&](const v1::Action& action, cas::BlobStore& store) {
    found = store.GetActionResult(ActionDigest(action)).ok();
    return Echo(action, store);
  });
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  EXPECT_EQ(queue_.AwaitCompletions(1)[0].result().counters_size(), 1) << "the forged one";
  v1::LeasedTask task;
  task.set_no_cache(true);
  *task.mutable_action() = Toy(1);
  queue_.Add(task, 2);
  const v1::Completion anew = queue_.AwaitCompletions(2)[1];
  EXPECT_FALSE(anew.cached());
  EXPECT_EQ(anew.result().outputs_size(), 1);
  EXPECT_FALSE(found) << "nor do the stage's own caches answer";
  queue_.Add(Toy(1), 3);
  const v1::Completion after = queue_.AwaitCompletions(3)[2];
  EXPECT_TRUE(after.cached());
  EXPECT_EQ(after.result().SerializeAsString(), anew.result().SerializeAsString());
}

TEST_F(WorkerTest, AStageThatAsksTheWorldIsNeverCached) {
  FakeStage stage(Echo, /*cacheable=*/false);
  const auto worker = Start(stage);
  queue_.Add(Toy(1, StageId::kPin), 1);
  queue_.Add(Toy(1, StageId::kPin), 2);
  queue_.AwaitCompletions(2);
  EXPECT_EQ(stage.runs, 2);
  EXPECT_EQ(store_.results(), 0);
}

TEST_F(WorkerTest, ErrorsAndExceptionsAreHandedIn) {
  FakeStage stage([](const v1::Action& action, cas::BlobStore&) -> absl::StatusOr<v1::StageResult> {
    if (action.params().pair().partition() == 1) throw std::runtime_error("boom");
    return absl::NotFoundError("gone");
  });
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  queue_.Add(Toy(2), 2);
  queue_.Add(Toy(3, StageId::kPin), 3);
  const std::vector<v1::Completion> completions = queue_.AwaitCompletions(3);
  EXPECT_EQ(completions[0].error().code(), static_cast<int>(absl::StatusCode::kInternal));
  EXPECT_THAT(completions[0].error().message(), ::testing::HasSubstr("boom"));
  EXPECT_EQ(completions[1].error().code(), static_cast<int>(absl::StatusCode::kNotFound));
  EXPECT_EQ(completions[2].error().code(), static_cast<int>(absl::StatusCode::kUnimplemented));
  EXPECT_EQ(store_.results(), 0);
}

// A failure's text gets into logs, reports and datasets.
TEST_F(WorkerTest, AUrlsPasswordIsNotHandedIn) {
  FakeStage stage([](const v1::Action&, cas::BlobStore&) -> absl::StatusOr<v1::StageResult> {
    return absl::NotFoundError("https://user:s3cret@a.org/x: HTTP 404");
  });
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  EXPECT_EQ(queue_.AwaitCompletions(1)[0].error().message(), "https://***@a.org/x: HTTP 404");
}

}  // namespace
}  // namespace kernelmill::worker
