#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_GIT_ERRORS_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_GIT_ERRORS_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// The code of the failure that git complains of in these words, here or on the server; none if they
// are not known.
std::optional<absl::StatusCode> CodeOfGitError(absl::string_view words);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_GIT_ERRORS_H_
