#include "common/base/retry_after.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace kernelmill {
namespace {

constexpr char kPayload[] = "kernelmill/retry-after-ms";

}  // namespace

void SetRetryAfter(absl::Status& status, absl::Duration wait) {
  wait = std::clamp(wait, absl::ZeroDuration(), kMaxRetryAfter);
  if (!status.ok()) {
    status.SetPayload(kPayload, absl::Cord(absl::StrCat(absl::ToInt64Milliseconds(wait))));
  }
}

std::optional<absl::Duration> RetryAfterOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  int64_t milliseconds = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &milliseconds)) {
    return std::nullopt;
  }
  return std::clamp(absl::Milliseconds(milliseconds), absl::ZeroDuration(), kMaxRetryAfter);
}

}  // namespace kernelmill
