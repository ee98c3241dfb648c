#include "common/worker/task_store.h"

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/cas/granted_results.h"
#include "common/cas/result_origin.h"

namespace kernelmill::worker {

absl::StatusOr<cas::ActionResult> TaskStore::GetActionResult(const cas::Digest& action) {
  if (task_.no_cache()) return absl::NotFoundError("the task is to use no cache");
  ASSIGN_OR_RETURN(cas::ActionResult result, store_.GetActionResult(action));
  const cas::ResultOrigin origin = cas::OriginOf(result);
  const bool fits =
      origin.stage.empty() || !cas::SameDigest(action, action_) ||
      (origin.stage == task_.action().stage() && origin.version == task_.action().stage_version());
  if (fits) return result;
  return absl::NotFoundError(
      absl::StrCat("what is kept is of ", origin.stage, " ", origin.version));
}

absl::Status TaskStore::PutActionResult(const cas::Digest& action,
                                        const cas::ActionResult& result) {
  cas::ActionResult named = result;
  cas::SetWorker(worker_, &named);
  if (cas::OriginOf(named).stage.empty()) {
    cas::SetStage(task_.action().stage(), task_.action().stage_version(), &named);
  }
  auto* const granted = dynamic_cast<cas::GrantedResults*>(&store_);
  if (granted == nullptr) return store_.PutActionResult(action, named);
  return granted->PutGrantedResult(action, named, task_.grant());
}

}  // namespace kernelmill::worker
