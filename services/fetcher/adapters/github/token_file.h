#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_TOKEN_FILE_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_TOKEN_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace kernelmill::fetcher {

// The token in a file, without the blanks around it; an empty file, or no path, has none.
// FAILED_PRECONDITION, which never tells what is in it: it cannot be read, or holds something else.
absl::StatusOr<std::string> ReadTokenFile(const std::string& path);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_TOKEN_FILE_H_
