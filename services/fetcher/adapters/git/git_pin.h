#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_PIN_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_PIN_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/fetcher/adapters/git/git_command.h"

namespace kernelmill::fetcher {

// The commit that `ref` names now: HEAD, a branch, else a tag, or a full ref name. Forty
// hexadecimal digits are a commit already and are not asked about. NOT_FOUND: no such ref, or an
// empty repository; otherwise as CheckGitUrl and ClassifyGitFailure. One round trip,
// and only refs whose names begin with the one asked for are sent, unless the server knows no
// better; two for a ref that is not there.
absl::StatusOr<std::string> PinGit(absl::string_view url, absl::string_view ref,
                                   const GitOptions& options);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_PIN_H_
