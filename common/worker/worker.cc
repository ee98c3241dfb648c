#include "common/worker/worker.h"

#include <prometheus/counter.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/metrics/metrics.h"
#include "common/rpc/status.h"

namespace kernelmill::worker {
namespace {

// Stands for an infinite one, to which no time can be added.
constexpr absl::Duration kLongestGrace = absl::Hours(24 * 365);

void CountTask(const v1::LeasedTask& task, const char* outcome) {
  metrics::Counter("kernelmill_worker_tasks_total", "Tasks leased, by what became of them",
                   {{"stage", task.action().stage()}, {"outcome", outcome}})
      .Increment();
}

}  // namespace

Worker::Worker(const Options& options, WorkQueue& queue, cas::BlobStore& store,
               const std::vector<Stage*>& stages)
    : options_(options),
      queue_(queue),
      runner_(store, stages, options.away),
      keeper_(queue, options.name) {
  lease_request_.set_worker(options.name);
  lease_request_.set_max_tasks(1);
  lease_request_.set_wait_ms(static_cast<int32_t>(absl::ToInt64Milliseconds(options.poll)));
  for (const Stage* stage : stages) {
    v1::StageName* name = lease_request_.add_stages();
    name->set_stage(std::string(stage->name()));
    name->set_version(stage->version());
  }
}

Worker::~Worker() {
  if (!AllIdle()) Drain(absl::ZeroDuration());
  for (std::thread& slot : slots_) slot.join();
}

void Worker::Start() {
  absl::MutexLock lock(&mutex_);
  slots_running_ = options_.slots;
  for (int i = 0; i < options_.slots; ++i) slots_.emplace_back([this] { RunSlot(); });
}

bool Worker::AllIdle() const {
  absl::MutexLock lock(&mutex_);
  return slots_running_ == 0;
}

bool Worker::Drain(absl::Duration grace) {
  draining_ = true;
  changed_.Notify();
  const auto deadline =
      std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(std::min(grace, kLongestGrace));
  while (!AllIdle()) {
    const uint64_t seen = changed_.generation();
    const auto left = deadline - std::chrono::steady_clock::now();
    if (AllIdle() || left <= left.zero()) break;
    changed_.WaitFor(seen, absl::FromChrono(left));
  }
  if (AllIdle()) return true;
  std::vector<v1::Completion> handbacks;
  for (const v1::LeaseRef& lease : keeper_.GiveUp()) {
    v1::Completion& completion = handbacks.emplace_back();
    *completion.mutable_lease() = lease;
    completion.mutable_handback();
  }
  changed_.Notify();
  if (!handbacks.empty()) {
    const absl::Status told = Complete(handbacks).status();
    LogWarning("drain: tasks handed back",
               {{"tasks", handbacks.size()}, {"status", told.ToString()}});
  }
  queue_.Cancel();
  return false;
}

void Worker::RunSlot() {
  int failures = 0;
  while (!draining_) {
    const uint64_t seen = changed_.generation();
    const absl::StatusOr<v1::LeaseResponse> leased = queue_.Lease(lease_request_);
    if (leased.ok()) {
      failures = 0;
      for (const v1::LeasedTask& task : leased->tasks()) RunTask(task);
      continue;
    }
    if (draining_) break;
    if (++failures == 1) {
      LogWarning("no work to be had", {{"error", leased.status().ToString()}});
    }
    changed_.WaitFor(seen, rpc::Backoff(options_.away, std::min(failures, 16)));
  }
  {
    absl::MutexLock lock(&mutex_);
    --slots_running_;
  }
  changed_.Notify();
}

void Worker::RunTask(const v1::LeasedTask& task) {
  v1::LeaseRef lease;
  lease.set_task(task.task());
  lease.set_token(task.token());
  keeper_.Hold(task);
  const v1::Completion completion = Work(task, lease);
  const char* outcome = "lost";
  if (completion.outcome_case() != v1::Completion::OUTCOME_NOT_SET) outcome = HandIn(completion);
  keeper_.Release(lease);
  CountTask(task, outcome);
  const bool plain = outcome == std::string("done") || outcome == std::string("cached");
  Log(plain ? LogLevel::kDebug : LogLevel::kWarning, "task",
      {{"job", task.job()},
       {"task", task.task()},
       {"stage", task.action().stage()},
       {"attempt", task.attempt()},
       {"outcome", outcome},
       {"error", completion.error().message()}});
}

v1::Completion Worker::Work(const v1::LeasedTask& task, const v1::LeaseRef& lease) {
  v1::Completion completion;
  *completion.mutable_lease() = lease;
  if (draining_) {
    completion.mutable_handback();
    return completion;
  }
  std::optional<TaskRunner::Outcome> outcome =
      runner_.Run(task.action(), [&](absl::Duration pause) { return PauseTask(lease, pause); });
  if (!outcome.has_value() || keeper_.IsLost(lease)) return completion;
  completion.set_cached(outcome->cached);
  if (outcome->result.ok()) {
    *completion.mutable_result() = *std::move(outcome->result);
  } else {
    *completion.mutable_error() = rpc::ToProtoStatus(outcome->result.status());
  }
  return completion;
}

bool Worker::PauseTask(const v1::LeaseRef& lease, absl::Duration pause) {
  const uint64_t seen = keeper_.lost().generation();
  if (keeper_.IsLost(lease)) return false;
  keeper_.lost().WaitFor(seen, pause);
  return !keeper_.IsLost(lease);
}

absl::StatusOr<v1::CompleteResponse> Worker::Complete(
    const std::vector<v1::Completion>& completions) {
  v1::CompleteRequest request;
  request.set_worker(options_.name);
  for (const v1::Completion& completion : completions) *request.add_completions() = completion;
  ASSIGN_OR_RETURN(v1::CompleteResponse response, queue_.Complete(request));
  if (response.statuses_size() != request.completions_size()) {
    return absl::InternalError("the coordinator answered for other completions than were sent");
  }
  return response;
}

const char* Worker::HandIn(const v1::Completion& completion) {
  for (int attempt = 1;; ++attempt) {
    const absl::StatusOr<v1::CompleteResponse> response = Complete({completion});
    if (response.ok()) {
      if (response->statuses(0).code() != 0) return "refused";
      if (completion.has_handback()) return "handed_back";
      if (completion.has_error()) return "error";
      return completion.cached() ? "cached" : "done";
    }
    LogWarning("completion not handed in", {{"error", response.status().ToString()}});
    // Whatever the error, the coordinator may be another the next time: only a lost lease ends
    // this.
    if (!PauseTask(completion.lease(), rpc::Backoff(options_.away, std::min(attempt, 16)))) {
      return "lost";
    }
  }
}

}  // namespace kernelmill::worker
