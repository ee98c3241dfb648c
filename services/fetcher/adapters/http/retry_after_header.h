#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_RETRY_AFTER_HEADER_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_RETRY_AFTER_HEADER_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace kernelmill::fetcher {

// How long the value of a Retry-After header asks to wait: seconds, or an HTTP date as RFC 9110
// wants it. At most kMaxRetryAfter; zero for a date that has passed; none for anything else.
std::optional<absl::Duration> ParseRetryAfter(absl::string_view value, absl::Time now);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_RETRY_AFTER_HEADER_H_
