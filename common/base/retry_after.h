#ifndef KERNELMILL_COMMON_BASE_RETRY_AFTER_H_
#define KERNELMILL_COMMON_BASE_RETRY_AFTER_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace kernelmill {

// The longest wait that a host can request.
inline constexpr absl::Duration kMaxRetryAfter = absl::Hours(24);

// Notes in an error that the server requests a pause, as with HTTP's Retry-After. The note is a
// payload of the status, which Annotate keeps. Does nothing if the status is OK.
void SetRetryAfter(absl::Status& status, absl::Duration wait);

// Returns the wait that SetRetryAfter noted, in whole milliseconds from zero to kMaxRetryAfter;
// nothing if there is no note.
std::optional<absl::Duration> GetRetryAfter(const absl::Status& status);

// Parses HTTP's Retry-After header: seconds, or an HTTP date as in RFC 9110. Returns at most
// kMaxRetryAfter, zero for a date in the past, and nothing for anything else.
std::optional<absl::Duration> ParseRetryAfter(absl::string_view value, absl::Time now);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_RETRY_AFTER_H_
