#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_RATE_LIMIT_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_RATE_LIMIT_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/fetcher/adapters/http/http_client.h"

namespace kernelmill::fetcher {

// How long GitHub wants to be left alone, at most a day; none: the answer is no refusal for a rate
// limit. It refuses with 403 or 429 and says until when in Retry-After, or in x-ratelimit-reset
// where x-ratelimit-remaining is 0; where it says neither, a minute is what its documentation asks
// for.
std::optional<absl::Duration> RateLimitWait(const HttpResponse& answer, absl::Time now);

// RESOURCE_EXHAUSTED, to be tried again after `wait` (RetryAfterOf), which is at `now` + `wait`.
absl::Status RateLimited(absl::string_view api, absl::Time now, absl::Duration wait);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_RATE_LIMIT_H_
