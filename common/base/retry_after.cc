#include "common/base/retry_after.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

// The wait that a host asks for travels with the absl::Status as a payload: from the fetcher's HTTP
// client through the stage to the completion that the coordinator gets. So no function in between
// has a parameter for it, and Annotate() keeps it.
namespace kernelmill {
namespace {

constexpr char kPayload[] = "kernelmill/retry-after-ms";

bool IsNumber(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

}  // namespace

void SetRetryAfter(absl::Status& status, absl::Duration wait) {
  wait = std::clamp(wait, absl::ZeroDuration(), kMaxRetryAfter);
  if (!status.ok()) {
    status.SetPayload(kPayload, absl::Cord(absl::StrCat(absl::ToInt64Milliseconds(wait))));
  }
}

std::optional<absl::Duration> GetRetryAfter(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  int64_t milliseconds = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &milliseconds)) {
    return std::nullopt;
  }
  return std::clamp(absl::Milliseconds(milliseconds), absl::ZeroDuration(), kMaxRetryAfter);
}

// Parses HTTP's header in both of its forms: a number of seconds, or a date. A date in the past is
// no wait. Longer waits are cut to kMaxRetryAfter, so that a host cannot stall a job for a year.
std::optional<absl::Duration> ParseRetryAfter(absl::string_view value, absl::Time now) {
  value = absl::StripAsciiWhitespace(value);
  if (IsNumber(value)) {
    int64_t seconds = 0;  // a number that does not fit is above the maximum
    if (!absl::SimpleAtoi(value, &seconds)) return kMaxRetryAfter;
    return std::min(absl::Seconds(seconds), kMaxRetryAfter);
  }
  absl::Time date;
  if (!absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", value, &date, nullptr)) return std::nullopt;
  return std::clamp(date - now, absl::ZeroDuration(), kMaxRetryAfter);
}

}  // namespace kernelmill
