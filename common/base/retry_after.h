#ifndef KERNELMILL_COMMON_BASE_RETRY_AFTER_H_
#define KERNELMILL_COMMON_BASE_RETRY_AFTER_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace kernelmill {

// No host is left alone for longer, whatever it says.
inline constexpr absl::Duration kMaxRetryAfter = absl::Hours(24);

// Notes in an error that whoever was called asks to be left alone for `wait`, as HTTP's Retry-After
// does. It is a payload of the status: Annotate keeps it. Of an OK status nothing is noted.
void SetRetryAfter(absl::Status& status, absl::Duration wait);

// What SetRetryAfter noted, in milliseconds, from zero to kMaxRetryAfter; none if nothing was.
std::optional<absl::Duration> RetryAfterOf(const absl::Status& status);

// How long the value of HTTP's Retry-After header asks to wait: seconds, or an HTTP date as RFC
// 9110 wants it. At most kMaxRetryAfter; zero for a date that has passed; none for anything else.
std::optional<absl::Duration> ParseRetryAfter(absl::string_view value, absl::Time now);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_RETRY_AFTER_H_
