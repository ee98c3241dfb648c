#ifndef KERNELMILL_COMMON_BASE_URL_H_
#define KERNELMILL_COMMON_BASE_URL_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill {

// Whether a URL, SCHEME://AUTHORITY..., has a password in it, or a user although its scheme is not
// ssh. What is no URL has none.
bool HasCredentials(absl::string_view url);

// A repository's or package's name without what does not tell it from others, in lower case: equal
// for all ways to write one. "https://github.com/A/B.git", "git@github.com:a/b" and
// "github.com/A/B/" are "github.com/a/b"; "fla-core==0.6.0" is "fla-core".
std::string RepositoryKey(absl::string_view name);

// Beside letters and digits, what RFC 3986 lets stand in any part of a URL as it is, and that with
// what divides a path.
inline constexpr absl::string_view kUnreserved = "-._~";
inline constexpr absl::string_view kUnreservedInPath = "-._~/";

// `text` with each byte as %XX that is neither an ASCII letter or digit nor one of `kept`.
std::string PercentEncoded(absl::string_view text, absl::string_view kept);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_URL_H_
