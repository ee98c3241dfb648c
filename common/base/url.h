#ifndef KERNELMILL_COMMON_BASE_URL_H_
#define KERNELMILL_COMMON_BASE_URL_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill {

// Returns whether a URL, SCHEME://AUTHORITY..., has a password, or a user although its scheme is
// not ssh. False if the text is not a URL.
bool HasCredentials(absl::string_view url);

// Returns the URL with "***" in the place of its credentials, for messages. An ssh user without a
// password stays. A '/', '#' or '?' that belongs in a password as %XX makes the URL malformed; the
// text up to the last '@' is then left out, too.
std::string RedactedUrl(absl::string_view url);

// Returns a text with each URL in it as RedactedUrl. A URL ends at a blank, a quote, '<' or '>'.
std::string RedactedText(absl::string_view text);

// Returns the canonical name of a repository or package, in lower case, which is equal for all ways
// to write it. "https://github.com/A/B.git", "git@github.com:a/b" and "github.com/A/B/" give
// "github.com/a/b"; "fla-core==0.6.0" gives "fla-core".
std::string RepositoryKey(absl::string_view name);

// The bytes, besides letters and digits, that RFC 3986 allows unescaped in any part of a URL; and
// those with the slash of a path.
inline constexpr absl::string_view kUnreserved = "-._~";
inline constexpr absl::string_view kUnreservedInPath = "-._~/";

// Returns `text` with each byte as %XX, except ASCII letters, digits and the bytes in `kept`.
std::string PercentEncoded(absl::string_view text, absl::string_view kept);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_URL_H_
