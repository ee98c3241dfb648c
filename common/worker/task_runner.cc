#include "common/worker/task_runner.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/metrics/metrics.h"
#include "common/worker/task_store.h"
#include "common/worker/worker_metrics.h"

namespace kernelmill::worker {

namespace {

// A timer of consecutive steps. Not thread-safe.
class LapTimer {
 public:
  // Returns the microseconds since the last call, or since construction.
  int64_t Lap() {
    const auto now = std::chrono::steady_clock::now();
    const auto taken = std::chrono::duration_cast<std::chrono::microseconds>(now - last_);
    last_ = now;
    return taken.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

TaskRunner::TaskRunner(cas::BlobStore& store, const std::vector<Stage*>& stages,
                       const rpc::RetryPolicy& backoff, std::string worker)
    : store_(store), backoff_(backoff), worker_(std::move(worker)) {
  for (Stage* stage : stages) stages_[stage->id()] = stage;
}

// Runs the stage's code and measures it. A failure is not counted by CountStage, since it has no
// counters.
absl::StatusOr<v1::StageResult> TaskRunner::RunStage(Stage& stage, const v1::LeasedTask& task,
                                                     cas::BlobStore& store,
                                                     const std::stop_token& stop) {
  const v1::Action& action = task.action();
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<v1::StageResult> result = absl::UnknownError("");
  try {
    result = stage.RunUntil(action, store, stop);
  } catch (const std::exception& error) {  // thrown by a library; our code does not throw
    result = absl::InternalError(absl::StrCat(action.stage(), " threw: ", error.what()));
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  metrics::Observe(metrics::kStageSeconds, {{"stage", std::string(stage.info().name)}},
                   taken.count(), task.job(), std::to_string(task.task()));
  if (result.ok()) CountStage(stage.id(), *result);
  return result;
}

// The steps: find the stage in this version; look for the result in the action cache; run the
// stage; store the result. Nothing is returned if the task was stopped, because its lease is lost
// and the outcome does not count.
//
// All calls of the stage to the store go through two wrappers: TaskStore adds the task's identity
// to results, and PatientStore waits while the store is unreachable.
std::optional<TaskRunner::Outcome> TaskRunner::Run(const v1::LeasedTask& task, const Pause& pause,
                                                   const std::stop_token& stop) {
  const v1::Action& action = task.action();
  const StageInfo* const info = FindStage(action.stage());
  const auto known = info == nullptr ? stages_.end() : stages_.find(info->id);
  if (known == stages_.end() || info->version != action.stage_version()) {
    return Outcome{absl::UnimplementedError(absl::StrCat(
        "this worker does not have the stage ", action.stage(), " ", action.stage_version()))};
  }
  v1::TaskTiming timing;
  LapTimer timer;
  const cas::Digest digest = ActionDigest(action);
  TaskStore of_task(store_, task, digest, worker_);
  PatientStore store(of_task, backoff_, pause);
  // An error here only means that the stage runs.
  if (info->cacheable) {
    const absl::StatusOr<cas::ActionResult> kept = store.GetActionResult(digest);
    timing.set_lookup_us(timer.Lap());
    metrics::Observe(metrics::kLookupSeconds, {{"stage", std::string(info->name)}},
                     static_cast<double>(timing.lookup_us()) / 1e6, task.job(),
                     std::to_string(task.task()));
    if (kept.ok()) {
      absl::StatusOr<v1::StageResult> result = DecodeResult(*kept);
      if (result.ok()) return Outcome{std::move(result), /*cached=*/true, timing};
    }
  }
  // The lookup may have given up: then the stage does not run at all.
  absl::StatusOr<v1::StageResult> result = absl::CancelledError("the task was cancelled");
  if (!store.gave_up()) result = RunStage(*known->second, task, store, stop);
  timing.set_run_us(timer.Lap());
  if (result.ok() && info->cacheable) {
    const absl::Status told = store.PutActionResult(digest, EncodeResult(*result));
    // The result is still valid; the next run will not find it in the cache.
    if (!told.ok()) LogWarning("cannot cache the result", {{"error", told.ToString()}});
    timing.set_store_us(timer.Lap());
  }
  if (!result.ok() && (store.gave_up() || stop.stop_requested())) return std::nullopt;
  return Outcome{std::move(result), /*cached=*/false, timing};
}

}  // namespace kernelmill::worker
