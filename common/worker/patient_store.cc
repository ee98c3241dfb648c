#include "common/worker/patient_store.h"

#include "common/base/log.h"

namespace kernelmill::worker {
namespace {

bool IsAway(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status);
}

const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& value) {
  return value.status();
}

}  // namespace

template <typename Call>
auto PatientStore::Patiently(Call call) -> decltype(call()) {
  for (int attempt = 1; !gave_up_; ++attempt) {
    auto answer = call();
    if (!IsAway(StatusOf(answer))) {
      if (attempt > 1) pause_(absl::ZeroDuration(), absl::OkStatus());
      return answer;
    }
    if (attempt == 1) {
      LogWarning("waiting for the store", {{"error", StatusOf(answer).ToString()}});
    }
    if (!pause_(rpc::Backoff(backoff_, attempt), StatusOf(answer))) gave_up_ = true;
  }
  return absl::CancelledError("no longer wanted");
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
