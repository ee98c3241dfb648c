#include "common/worker/task_store.h"

#include "absl/strings/str_cat.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/cas/result_origin.h"

// The store as a stage sees it: PatientStore(TaskStore(store of the worker)). Stages are written as
// if the store were always there and knew who asks.
namespace kernelmill::worker {

// A result under the task's own action counts only if the task's stage and version made it. With
// another origin it would have been written by a faulty worker. NOT_FOUND makes the stage run
// again. Results without an origin are accepted, and so are those of other actions, which are the
// stage's own cache entries.
absl::StatusOr<cas::ActionResult> TaskStore::GetActionResult(const cas::Digest& action) {
  if (task_.no_cache()) return absl::NotFoundError("the task runs without the cache");
  ASSIGN_OR_RETURN(cas::ActionResult result, store_.GetActionResult(action));
  const cas::ResultOrigin origin = cas::ReadOrigin(result);
  const bool fits =
      origin.stage.empty() || !cas::SameDigest(action, action_) ||
      (origin.stage == task_.action().stage() && origin.version == task_.action().stage_version());
  if (fits) return result;
  return absl::NotFoundError(
      absl::StrCat("the stored result is from ", origin.stage, " ", origin.version));
}

// Signs the result with worker and stage, and shows the task's grant to a store that takes grants.
absl::Status TaskStore::PutActionResult(const cas::Digest& action,
                                        const cas::ActionResult& result) {
  cas::ActionResult named = result;
  cas::SetWorker(worker_, &named);
  if (cas::ReadOrigin(named).stage.empty()) {
    cas::SetStage(task_.action().stage(), task_.action().stage_version(), &named);
  }
  auto* const granted = dynamic_cast<cas::GrantedResults*>(&store_);
  if (granted == nullptr) return store_.PutActionResult(action, named);
  return granted->PutGrantedResult(action, named, task_.grant());
}

namespace {

bool IsAway(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status);
}

// NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): the answers that are asked outlive it.
const absl::Status& GetStatus(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& GetStatus(const absl::StatusOr<T>& value) {
  return value.status();
}

}  // namespace

// Repeats a call until the store answers. A restart of the store so costs time, but no work. pause_
// waits, tells the coordinator why, and returns false once the lease is lost; an OK status tells it
// that the wait is over. From then on every call is CANCELLED, so that the stage ends soon.
template <typename Call>
auto PatientStore::Patiently(Call call) -> decltype(call()) {
  for (int attempt = 1; !gave_up_; ++attempt) {
    auto answer = call();
    if (!IsAway(GetStatus(answer))) {
      if (attempt > 1) {
        LogInfo("the store answers again", {{"failed_calls", attempt - 1}});
        pause_(absl::ZeroDuration(), absl::OkStatus());
      }
      return answer;
    }
    if (attempt == 1) {
      LogWarning("waiting for the store", {{"error", GetStatus(answer).ToString()}});
    }
    if (!pause_(rpc::Backoff(backoff_, attempt), GetStatus(answer))) gave_up_ = true;
  }
  return absl::CancelledError("the task was cancelled");
}

absl::StatusOr<std::vector<cas::Digest>> PatientStore::FindMissing(
    const std::vector<cas::Digest>& digests) {
  return Patiently([&] { return store_.FindMissing(digests); });
}

absl::Status PatientStore::Put(const std::vector<cas::Blob>& blobs) {
  return Patiently([&] { return store_.Put(blobs); });
}

absl::StatusOr<std::vector<std::string>> PatientStore::Get(
    const std::vector<cas::Digest>& digests) {
  return Patiently([&] { return store_.Get(digests); });
}

absl::StatusOr<cas::ActionResult> PatientStore::GetActionResult(const cas::Digest& action) {
  return Patiently([&] { return store_.GetActionResult(action); });
}

absl::Status PatientStore::PutActionResult(const cas::Digest& action,
                                           const cas::ActionResult& result) {
  return Patiently([&] { return store_.PutActionResult(action, result); });
}

}  // namespace kernelmill::worker
