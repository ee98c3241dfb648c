#ifndef KERNELMILL_COMMON_BASE_URL_H_
#define KERNELMILL_COMMON_BASE_URL_H_

#include "absl/strings/string_view.h"

namespace kernelmill {

// Whether a URL, SCHEME://AUTHORITY..., has a password in it, or a user although its scheme is not
// ssh. What is no URL has none.
bool HasCredentials(absl::string_view url);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_URL_H_
