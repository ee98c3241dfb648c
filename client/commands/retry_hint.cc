#include "client/commands/retry_hint.h"

#include "absl/strings/str_cat.h"

namespace kernelmill::client {

absl::Status WithRetryHint(const absl::Status& status, const std::string& job) {
  if (!absl::IsNotFound(status)) return status;
  return absl::NotFoundError(absl::StrCat(
      status.message(), "; the store no longer has all of the dataset: `kernelmill retry ",
      job.empty() ? "JOB" : job, "` makes it again"));
}

}  // namespace kernelmill::client
