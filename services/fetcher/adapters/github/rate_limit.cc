#include "services/fetcher/adapters/github/rate_limit.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/retry_after.h"

namespace kernelmill::fetcher {
namespace {

constexpr absl::Duration kUnsaid = absl::Minutes(1);
constexpr absl::Duration kClocksDiffer = absl::Seconds(1);

// The number in a header; none: there is none, or it is no number that is not negative.
std::optional<int64_t> NumberIn(const HttpResponse& answer, const std::string& header) {
  const auto found = answer.headers.find(header);
  int64_t number = 0;
  if (found == answer.headers.end() || !absl::SimpleAtoi(found->second, &number) || number < 0) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

std::optional<absl::Duration> RateLimitWait(const HttpResponse& answer, absl::Time now) {
  if (answer.code != 403 && answer.code != 429) return std::nullopt;
  if (answer.retry_after.has_value()) return answer.retry_after;
  const std::optional<int64_t> reset = NumberIn(answer, "x-ratelimit-reset");
  if (reset.has_value() && NumberIn(answer, "x-ratelimit-remaining") == 0) {
    const absl::Duration left = absl::FromUnixSeconds(*reset) - now;
    return std::clamp(left + kClocksDiffer, kClocksDiffer, kMaxRetryAfter);
  }
  const std::string said = absl::AsciiStrToLower(answer.body);
  if (answer.code == 429 || absl::StrContains(said, "rate limit")) return kUnsaid;
  return std::nullopt;
}

absl::Status RateLimited(absl::string_view api, absl::Time now, absl::Duration wait) {
  const std::string when = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", now + wait, absl::UTCTimeZone());
  absl::Status status = absl::ResourceExhaustedError(
      absl::StrCat(api, ": its rate limit is used up until ", when, ", for ",
                   absl::FormatDuration(absl::Ceil(wait, absl::Seconds(1)))));
  SetRetryAfter(status, wait);
  return status;
}

}  // namespace kernelmill::fetcher
