#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_REDIRECT_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_REDIRECT_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/fetcher/core/url_policy.h"

namespace kernelmill::fetcher {

inline constexpr int kMaxRedirects = 5;

// Where a repository of an http or https URL is now, as its server says to the request that git
// makes first. Its address is not checked yet. FAILED_PRECONDITION: the server redirects to what is
// no repository, or not at all; PERMISSION_DENIED: from https to http, or to another transport; an
// answer that is an error: as HttpStatus; otherwise as HttpGet.
absl::StatusOr<GitUrl> AskForRedirect(const GitUrl& repository, bool public_only,
                                      absl::Duration timeout);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_REDIRECT_H_
