#include "common/worker/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "common/base/retry_after.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/worker/stage.h"

namespace kernelmill::worker {
namespace {

// A coordinator in a few lines. A failure set by FailNext is answered by whichever call comes next.
class FakeQueue : public WorkQueue {
 public:
  absl::StatusOr<v1::LeaseResponse> Lease(const v1::LeaseRequest& request) override {
    absl::MutexLock lock(&mutex_);
    const auto ready = [this] {
      mutex_.AssertHeld();
      return cancelled_ || failures_ > 0 || !tasks_.empty();
    };
    mutex_.AwaitWithTimeout(absl::Condition(&ready), absl::Milliseconds(request.wait_ms()));
    if (cancelled_) return absl::CancelledError("");
    if (Fails()) return absl::UnavailableError("unreachable");
    v1::LeaseResponse response;
    EXPECT_NE(request.incarnation(), 0u);
    asked_held_.push_back(request.held());
    while (!tasks_.empty() && response.tasks_size() < request.max_tasks()) {
      *response.add_tasks() = tasks_.front();
      tasks_.pop_front();
    }
    return response;
  }

  absl::StatusOr<v1::RenewResponse> Renew(const v1::RenewRequest& request,
                                          const std::string& waits_for) override {
    absl::MutexLock lock(&mutex_);
    ++renewals_;
    if (!waits_for.empty()) waited_for_ = waits_for;
    if (told_lost_) ++renewals_after_loss_;
    v1::RenewResponse response;
    for (const v1::LeaseRef& lease : request.leases()) {
      if (lease.token() == lost_token_) *response.add_lost() = lease;
    }
    told_lost_ |= !response.lost().empty();
    return response;
  }

  absl::StatusOr<v1::CompleteResponse> Complete(const v1::CompleteRequest& request) override {
    absl::MutexLock lock(&mutex_);
    const auto taken = [this] {
      mutex_.AssertHeld();
      return cancelled_ || !slow_to_take_;
    };
    mutex_.Await(absl::Condition(&taken));
    if (cancelled_) return absl::CancelledError("");
    if (Fails()) return absl::UnavailableError("unreachable");
    ++complete_calls_;
    v1::CompleteResponse response;
    for (const v1::Completion& completion : request.completions()) {
      completions_.push_back(completion);
      response.add_statuses();
    }
    return response;
  }

  void Cancel() override {
    absl::MutexLock lock(&mutex_);
    cancelled_ = true;
  }

  void Add(const v1::Action& action, uint64_t token, int ttl_ms = 60'000, bool alone = false) {
    v1::LeasedTask task;
    task.set_alone(alone);
    *task.mutable_action() = action;
    Add(task, token, ttl_ms);
  }
  void Add(v1::LeasedTask task, uint64_t token, int ttl_ms = 60'000) {
    absl::MutexLock lock(&mutex_);
    task.set_task(++added_);
    task.set_token(token);
    task.set_ttl_ms(ttl_ms);
    task.set_attempt(1);
    tasks_.push_back(std::move(task));
  }
  void FailNext(int calls) {
    absl::MutexLock lock(&mutex_);
    failures_ = calls;
  }
  // While set, whoever hands something in waits for the answer.
  void SetSlowToTake(bool slow) {
    absl::MutexLock lock(&mutex_);
    slow_to_take_ = slow;
  }
  void Lose(uint64_t token) {
    absl::MutexLock lock(&mutex_);
    lost_token_ = token;
  }
  std::vector<v1::Completion> AwaitCompletions(size_t count) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [this, count] {
      mutex_.AssertHeld();
      return completions_.size() >= count;
    };
    EXPECT_TRUE(mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(60)));
    return completions_;
  }
  // One thread renews: once it asks again, it knows of the loss.
  void AwaitRenewalAfterLoss() {
    absl::MutexLock lock(&mutex_);
    const auto again = [this] {
      mutex_.AssertHeld();
      return renewals_after_loss_ > 0;
    };
    EXPECT_TRUE(mutex_.AwaitWithTimeout(absl::Condition(&again), absl::Seconds(60)));
  }
  void AwaitRenewals(int count) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [this, count] {
      mutex_.AssertHeld();
      return renewals_ >= count;
    };
    EXPECT_TRUE(mutex_.AwaitWithTimeout(absl::Condition(&enough), absl::Seconds(60)));
  }
  // What a renewal said that its task waits for.
  std::string AwaitWaitedFor() {
    absl::MutexLock lock(&mutex_);
    const auto said = [this] {
      mutex_.AssertHeld();
      return !waited_for_.empty();
    };
    EXPECT_TRUE(mutex_.AwaitWithTimeout(absl::Condition(&said), absl::Seconds(60)));
    return waited_for_;
  }
  std::vector<int> asked_held() const {
    absl::MutexLock lock(&mutex_);
    return asked_held_;
  }
  int complete_calls() const {
    absl::MutexLock lock(&mutex_);
    return complete_calls_;
  }
  size_t waiting() const {
    absl::MutexLock lock(&mutex_);
    return tasks_.size();
  }
  std::vector<v1::Completion> completions() const {
    absl::MutexLock lock(&mutex_);
    return completions_;
  }

 private:
  bool Fails() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return failures_ > 0 && failures_-- > 0; }

  mutable absl::Mutex mutex_;
  std::deque<v1::LeasedTask> tasks_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::Completion> completions_ ABSL_GUARDED_BY(mutex_);
  std::vector<int> asked_held_ ABSL_GUARDED_BY(mutex_);
  int complete_calls_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t added_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t lost_token_ ABSL_GUARDED_BY(mutex_) = 0;
  int renewals_ ABSL_GUARDED_BY(mutex_) = 0;
  int renewals_after_loss_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string waited_for_ ABSL_GUARDED_BY(mutex_);
  bool told_lost_ ABSL_GUARDED_BY(mutex_) = false;
  int failures_ ABSL_GUARDED_BY(mutex_) = 0;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool slow_to_take_ ABSL_GUARDED_BY(mutex_) = false;
};

class FakeStage : public Stage {
 public:
  using Body = std::function<absl::StatusOr<v1::StageResult>(const v1::Action&, cas::BlobStore&)>;
  explicit FakeStage(Body body, bool cacheable = true)
      : body_(std::move(body)), id_(cacheable ? StageId::kPair : StageId::kPin) {}

  StageId id() const override { return id_; }
  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    ++runs;
    return body_(action, store);
  }
  std::atomic<int> runs{0};

 private:
  const Body body_;
  const StageId id_;
};

// Stores the parameters as its output.
absl::StatusOr<v1::StageResult> Echo(const v1::Action& action, cas::BlobStore& store) {
  const auto digest = cas::PutMessage(store, action.params());
  if (!digest.ok()) return digest.status();
  v1::StageResult result;
  AddOutput(result, "echo", *digest, 1);
  return result;
}

// Of the stage that FakeStage stands for.
v1::Action Toy(int number, StageId stage = StageId::kPair) {
  v1::Action action;
  action.set_stage(std::string(StageInfoOf(stage).name));
  action.set_stage_version(StageInfoOf(stage).version);
  action.mutable_params()->mutable_pair()->set_partition(number);
  return action;
}

class WorkerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Worker> Start(Stage& stage, int slots = 1) {
    Worker::Options options;
    options.name = "test";
    options.slots = slots;
    options.poll = absl::Milliseconds(10);
    options.unreachable_backoff.first_backoff = absl::Milliseconds(1);
    options.unreachable_backoff.max_backoff = absl::Milliseconds(1);
    auto worker = std::make_unique<Worker>(options, queue_, store_, std::vector<Stage*>{&stage});
    worker->Start();
    return worker;
  }

  FakeQueue queue_;
  cas::MemoryBlobStore store_;
};

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

TEST_F(WorkerTest, WaitsForAnUnreachableCoordinator) {
  FakeStage stage(Echo);
  queue_.FailNext(5);
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  EXPECT_EQ(queue_.AwaitCompletions(1).size(), 1u);
}

TEST_F(WorkerTest, HandsInWhatTheCoordinatorMissed) {
  FakeStage stage([&](const v1::Action& action, cas::BlobStore& store) {
    queue_.FailNext(5);
    return Echo(action, store);
  });
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  queue_.AwaitCompletions(1);
  EXPECT_EQ(stage.runs, 1);
}

TEST_F(WorkerTest, AnUnreachableStoreFailsNoTask) {
  std::atomic<int> runs{0};
  FakeStage stage([&](const v1::Action& action, cas::BlobStore& store) {
    if (runs++ == 0) store_.FailNext(7, absl::UnavailableError("unreachable"));
    return Echo(action, store);
  });
  store_.FailNext(5, absl::UnavailableError("unreachable"));
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  EXPECT_TRUE(queue_.AwaitCompletions(1)[0].has_result());
  EXPECT_EQ(stage.runs, 1) << "what it has done is not done again";
  EXPECT_EQ(store_.results(), 1);
}

TEST_F(WorkerTest, AFullStoreIsWaitedForAndTheCoordinatorLearnsWhy) {
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

TEST_F(WorkerTest, ATaskThatWaitsForTheStoreDoesNotHang) {
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

TEST_F(WorkerTest, ADrainEndsTheWaitForAFullStore) {
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

TEST_F(WorkerTest, UnavailableOfAStageWhoseStoreAnswersIsHandedIn) {
  FakeStage stage([](const v1::Action&, cas::BlobStore&) -> absl::StatusOr<v1::StageResult> {
    return absl::UnavailableError("git server down");
  });
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  EXPECT_EQ(queue_.AwaitCompletions(1)[0].error().code(),
            static_cast<int>(absl::StatusCode::kUnavailable));
}

TEST_F(WorkerTest, HowLongAHostAsksToBeLeftAloneIsHandedIn) {
  FakeStage stage([](const v1::Action&, cas::BlobStore&) -> absl::StatusOr<v1::StageResult> {
    absl::Status busy = absl::UnavailableError("too many requests");
    SetRetryAfter(busy, absl::Seconds(90));
    return busy;
  });
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  EXPECT_EQ(queue_.AwaitCompletions(1)[0].retry_after_ms(), 90'000);
}

TEST_F(WorkerTest, RenewsWhileAStageRuns) {
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

TEST_F(WorkerTest, LostLeaseDropsTheResult) {
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

TEST_F(WorkerTest, ALostLeaseStopsItsStageAndFreesTheSlot) {
  EndlessStage stage;
  const auto worker = Start(stage);
  queue_.Lose(1);
  queue_.Add(Toy(1), 1);  // of a long time to live: it is looked after more often
  queue_.Add(Toy(2), 2);
  const std::vector<v1::Completion> completions = queue_.AwaitCompletions(1);
  ASSERT_TRUE(worker->Drain(absl::Seconds(60)));
  ASSERT_EQ(queue_.completions().size(), 1u) << "nobody asks what came of the other";
  EXPECT_EQ(completions[0].lease().token(), 2u);
  EXPECT_EQ(store_.results(), 1);
}

TEST_F(WorkerTest, ADrainStopsAStageThatDoesNotFinishInTime) {
  EndlessStage stage;
  const auto worker = Start(stage);
  queue_.Add(Toy(1), 1);
  stage.began.WaitForNotification();
  EXPECT_TRUE(worker->Drain(absl::Milliseconds(10))) << "nothing of it runs any more";
  ASSERT_EQ(queue_.completions().size(), 1u);
  EXPECT_TRUE(queue_.completions()[0].has_handback());
}

TEST_F(WorkerTest, DrainFinishesWhatRunsAndLeasesNothingMore) {
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

TEST_F(WorkerTest, DrainHandsBackWhatDoesNotFinishInTime) {
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

TEST_F(WorkerTest, ManyShortTasksTakeFewCalls) {
  // What ends during a call goes with the next one, so that the first call is made to last.
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

TEST_F(WorkerTest, NothingIsLeasedBesideATaskThatRunsAlone) {
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

TEST_F(WorkerTest, ATaskThatHangsIsReported) {
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

TEST_F(WorkerTest, DrainHandsBackWhatWaitsForASlot) {
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
