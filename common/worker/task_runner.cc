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
namespace {

// Nobody answered, as opposed to an answer that says no.
bool IsUnreachable(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

}  // namespace

TaskRunner::TaskRunner(cas::BlobStore& store, const std::vector<Stage*>& stages,
                       const rpc::RetryPolicy& backoff)
    : store_(store), backoff_(backoff) {
  for (Stage* stage : stages) stages_[stage->id()] = stage;
}

absl::Status TaskRunner::RetryWhileUnreachable(const Pause& pause,
                                               const std::function<absl::Status()>& call) {
  for (int attempt = 1;; ++attempt) {
    const absl::Status status = call();
    if (!IsUnreachable(status)) return status;
    if (attempt == 1) LogWarning("waiting for the store", {{"error", status.ToString()}});
    if (!pause(rpc::Backoff(backoff_, attempt))) return absl::CancelledError("no longer wanted");
  }
}

absl::StatusOr<v1::StageResult> TaskRunner::RunStage(Stage& stage, const v1::Action& action) {
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<v1::StageResult> result = absl::UnknownError("");
  try {
    result = stage.Run(action, store_);
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
  Stage& stage = *known->second;
  const cas::Digest digest = ActionDigest(action);
  absl::StatusOr<cas::ActionResult> kept = absl::NotFoundError("");
  const auto ask = [&] { return (kept = store_.GetActionResult(digest)).status(); };
  if (info->cacheable) {
    if (absl::IsCancelled(RetryWhileUnreachable(pause, ask))) return std::nullopt;
    if (kept.ok()) {
      absl::StatusOr<v1::StageResult> result = DecodeResult(*kept);
      if (result.ok()) return Outcome{std::move(result), /*cached=*/true};
    }
  }
  absl::StatusOr<v1::StageResult> result = RunStage(stage, action);
  // Was it the store that did not answer the stage? Then wait for it, and run again.
  while (IsUnreachable(result.status()) && IsUnreachable(ask())) {
    if (absl::IsCancelled(RetryWhileUnreachable(pause, ask))) return std::nullopt;
    result = RunStage(stage, action);
  }
  if (result.ok() && info->cacheable) {
    const absl::Status told = RetryWhileUnreachable(
        pause, [&] { return store_.PutActionResult(digest, EncodeResult(*result)); });
    // The result is good all the same; the next run will not find it.
    if (!told.ok()) LogWarning("result not cached", {{"error", told.ToString()}});
  }
  return Outcome{std::move(result)};
}

}  // namespace kernelmill::worker
