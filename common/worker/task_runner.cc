#include "common/worker/task_runner.h"

#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/metrics/exemplars.h"
#include "common/worker/lap_timer.h"
#include "common/worker/stage_metrics.h"
#include "common/worker/task_store.h"

namespace kernelmill::worker {

TaskRunner::TaskRunner(cas::BlobStore& store, const std::vector<Stage*>& stages,
                       const rpc::RetryPolicy& backoff, std::string worker)
    : store_(store), backoff_(backoff), worker_(std::move(worker)) {
  for (Stage* stage : stages) stages_[stage->id()] = stage;
}

absl::StatusOr<v1::StageResult> TaskRunner::RunStage(Stage& stage, const v1::LeasedTask& task,
                                                     cas::BlobStore& store,
                                                     const std::stop_token& stop) {
  const v1::Action& action = task.action();
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<v1::StageResult> result = absl::UnknownError("");
  try {
    result = stage.RunUntil(action, store, stop);
  } catch (const std::exception& error) {  // of a library; no code of ours throws
    result = absl::InternalError(absl::StrCat(action.stage(), " threw: ", error.what()));
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  metrics::Observe(metrics::kStageSeconds, {{"stage", std::string(stage.info().name)}},
                   taken.count(), task.job(), std::to_string(task.task()));
  if (result.ok()) CountStage(stage.id(), *result);
  return result;
}

std::optional<TaskRunner::Outcome> TaskRunner::Run(const v1::LeasedTask& task, const Pause& pause,
                                                   const std::stop_token& stop) {
  const v1::Action& action = task.action();
  const StageInfo* const info = FindStage(action.stage());
  const auto known = info == nullptr ? stages_.end() : stages_.find(info->id);
  if (known == stages_.end() || info->version != action.stage_version()) {
    return Outcome{absl::UnimplementedError(
        absl::StrCat("this worker has no stage ", action.stage(), " ", action.stage_version()))};
  }
  v1::TaskTiming timing;
  LapTimer timer;
  const cas::Digest digest = ActionDigest(action);
  TaskStore of_task(store_, task, digest, worker_);
  PatientStore store(of_task, backoff_, pause);
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
  absl::StatusOr<v1::StageResult> result = absl::CancelledError("no longer wanted");
  if (!store.gave_up()) result = RunStage(*known->second, task, store, stop);
  timing.set_run_us(timer.Lap());
  if (result.ok() && info->cacheable) {
    const absl::Status told = store.PutActionResult(digest, EncodeResult(*result));
    // The result is good all the same; the next run will not find it.
    if (!told.ok()) LogWarning("result not cached", {{"error", told.ToString()}});
    timing.set_store_us(timer.Lap());
  }
  if (!result.ok() && (store.gave_up() || stop.stop_requested())) return std::nullopt;
  return Outcome{std::move(result), /*cached=*/false, timing};
}

}  // namespace kernelmill::worker
