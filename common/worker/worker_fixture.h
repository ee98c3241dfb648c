#ifndef KERNELMILL_COMMON_WORKER_WORKER_FIXTURE_H_
#define KERNELMILL_COMMON_WORKER_WORKER_FIXTURE_H_

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/worker/stage.h"
#include "common/worker/worker.h"

namespace kernelmill::worker {

// A minimal coordinator. FailNext makes the next calls fail, of any method.
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
  // While set, Complete does not return.
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
  // Waits until a renewal after the loss. One thread renews, so the worker knows of the loss then.
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
  // Waits for a renewal that says what its task waits for, and returns that.
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

// A stage body that stores the parameters as its output.
inline absl::StatusOr<v1::StageResult> Echo(const v1::Action& action, cas::BlobStore& store) {
  const auto digest = cas::PutMessage(store, action.params());
  if (!digest.ok()) return digest.status();
  v1::StageResult result;
  AddOutput(result, "echo", *digest, 1);
  return result;
}

// Makes an action of FakeStage's stage.
inline v1::Action Toy(int number, StageId stage = StageId::kPair) {
  v1::Action action;
  action.set_stage(std::string(GetStageInfo(stage).name));
  action.set_stage_version(GetStageInfo(stage).version);
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

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_WORKER_FIXTURE_H_
