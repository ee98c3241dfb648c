#include "services/fetcher/adapters/http/retry_after_header.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "common/base/retry_after.h"

namespace kernelmill::fetcher {
namespace {

bool IsNumber(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

}  // namespace

std::optional<absl::Duration> ParseRetryAfter(absl::string_view value, absl::Time now) {
  value = absl::StripAsciiWhitespace(value);
  if (IsNumber(value)) {
    int64_t seconds = 0;  // more digits than fit are more than is waited anyway
    if (!absl::SimpleAtoi(value, &seconds)) return kMaxRetryAfter;
    return std::min(absl::Seconds(seconds), kMaxRetryAfter);
  }
  absl::Time date;
  if (!absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", value, &date, nullptr)) return std::nullopt;
  return std::clamp(date - now, absl::ZeroDuration(), kMaxRetryAfter);
}

}  // namespace kernelmill::fetcher
