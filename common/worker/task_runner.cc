#include "common/worker/task_runner.h"

#include <prometheus/histogram.h>

#include <chrono>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/metrics/metrics.h"
#include "common/worker/action_codec.h"

namespace kernelmill::worker {
namespace {

// Nobody answered, as opposed to an answer that says no.
bool IsAway(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

}  // namespace

TaskRunner::TaskRunner(cas::BlobStore& store, const std::vector<Stage*>& stages,
                       const rpc::RetryPolicy& away)
    : store_(store), away_(away) {
  for (Stage* stage : stages) stages_[std::string(stage->name())] = stage;
}

absl::Status TaskRunner::WhileAway(const Pause& pause, const std::function<absl::Status()>& call) {
  for (int attempt = 1;; ++attempt) {
    const absl::Status status = call();
    if (!IsAway(status)) return status;
    if (attempt == 1) LogWarning("waiting for the store", {{"error", status.ToString()}});
    if (!pause(rpc::Backoff(away_, attempt))) return absl::CancelledError("no longer wanted");
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
  metrics::Seconds("kernelmill_worker_stage_seconds", "Time that a stage took on one action",
                   {{"stage", std::string(stage.name())}})
      .Observe(taken.count());
  return result;
}

std::optional<TaskRunner::Outcome> TaskRunner::Run(const v1::Action& action, const Pause& pause) {
  const auto known = stages_.find(action.stage());
  if (known == stages_.end() || known->second->version() != action.stage_version()) {
    return Outcome{absl::UnimplementedError(
        absl::StrCat("this worker has no stage ", action.stage(), " ", action.stage_version()))};
  }
  Stage& stage = *known->second;
  const cas::Digest digest = ActionDigest(action);
  absl::StatusOr<cas::ActionResult> kept = absl::NotFoundError("");
  const auto ask = [&] { return (kept = store_.GetActionResult(digest)).status(); };
  if (stage.cacheable()) {
    if (absl::IsCancelled(WhileAway(pause, ask))) return std::nullopt;
    if (kept.ok()) {
      absl::StatusOr<v1::StageResult> result = DecodeResult(*kept);
      if (result.ok()) return Outcome{std::move(result), /*cached=*/true};
    }
  }
  absl::StatusOr<v1::StageResult> result = RunStage(stage, action);
  // Was it the store that did not answer the stage? Then wait for it, and run again.
  while (IsAway(result.status()) && IsAway(ask())) {
    if (absl::IsCancelled(WhileAway(pause, ask))) return std::nullopt;
    result = RunStage(stage, action);
  }
  if (result.ok() && stage.cacheable()) {
    const absl::Status told =
        WhileAway(pause, [&] { return store_.PutActionResult(digest, EncodeResult(*result)); });
    // The result is good all the same; the next run will not find it.
    if (!told.ok()) LogWarning("result not cached", {{"error", told.ToString()}});
  }
  return Outcome{std::move(result)};
}

}  // namespace kernelmill::worker
