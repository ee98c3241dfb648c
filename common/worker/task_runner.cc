#include "common/worker/task_runner.h"

#include <prometheus/histogram.h>

#include <chrono>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/metrics/metrics.h"
#include "common/worker/stage_metrics.h"

namespace kernelmill::worker {

TaskRunner::TaskRunner(cas::BlobStore& store, const std::vector<Stage*>& stages,
                       const rpc::RetryPolicy& backoff)
    : store_(store), backoff_(backoff) {
  for (Stage* stage : stages) stages_[stage->id()] = stage;
}

absl::StatusOr<v1::StageResult> TaskRunner::RunStage(Stage& stage, const v1::Action& action,
                                                     cas::BlobStore& store) {
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<v1::StageResult> result = absl::UnknownError("");
  try {
    result = stage.Run(action, store);
  } catch (const std::exception& error) {  // of a library; no code of ours throws
    result = absl::InternalError(absl::StrCat(action.stage(), " threw: ", error.what()));
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  metrics::Histogram(metrics::kStageSeconds, {{"stage", std::string(stage.info().name)}})
      .Observe(taken.count());
  if (result.ok()) CountStage(stage.id(), *result);
  return result;
}

std::optional<TaskRunner::Outcome> TaskRunner::Run(const v1::Action& action, const Pause& pause) {
  const StageInfo* const info = FindStage(action.stage());
  const auto known = info == nullptr ? stages_.end() : stages_.find(info->id);
  if (known == stages_.end() || info->version != action.stage_version()) {
    return Outcome{absl::UnimplementedError(
        absl::StrCat("this worker has no stage ", action.stage(), " ", action.stage_version()))};
  }
  PatientStore store(store_, backoff_, pause);
  const cas::Digest digest = ActionDigest(action);
  if (info->cacheable) {
    const absl::StatusOr<cas::ActionResult> kept = store.GetActionResult(digest);
    if (kept.ok()) {
      absl::StatusOr<v1::StageResult> result = DecodeResult(*kept);
      if (result.ok()) return Outcome{std::move(result), /*cached=*/true};
    }
  }
  absl::StatusOr<v1::StageResult> result = absl::CancelledError("no longer wanted");
  if (!store.gave_up()) result = RunStage(*known->second, action, store);
  if (result.ok() && info->cacheable) {
    const absl::Status told = store.PutActionResult(digest, EncodeResult(*result));
    // The result is good all the same; the next run will not find it.
    if (!told.ok()) LogWarning("result not cached", {{"error", told.ToString()}});
  }
  if (store.gave_up() && !result.ok()) return std::nullopt;
  return Outcome{std::move(result)};
}

}  // namespace kernelmill::worker
