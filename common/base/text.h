#ifndef KERNELMILL_COMMON_BASE_TEXT_H_
#define KERNELMILL_COMMON_BASE_TEXT_H_

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace kernelmill {

// Returns whether `word` occurs in `text`. Use it for whole files: memmem is vectorized in the C
// library, absl::StrContains is not.
bool Contains(absl::string_view text, absl::string_view word);

// Return the first or the last part of a dotted name: "triton" or "load" for
// "triton.language.load"; the whole name if it has no dot.
absl::string_view FirstPart(absl::string_view dotted);
absl::string_view LastPart(absl::string_view dotted);

// Returns whether `bytes` is well-formed UTF-8 (no surrogates, no overlong forms).
bool IsUtf8(absl::string_view bytes);

// Returns `bytes` with each byte that is not part of well-formed UTF-8 replaced by U+FFFD.
std::string ToUtf8(absl::string_view bytes);

// Returns `text` as a JSON string literal with quotes, after ToUtf8.
std::string JsonString(absl::string_view text);

// Returns whether `text` is exactly `digits` hexadecimal digits: 40 for a commit, 64 for a SHA-256.
inline bool IsHex(absl::string_view text, size_t digits) {
  return text.size() == digits && std::all_of(text.begin(), text.end(), absl::ascii_isxdigit);
}

// Returns whether `text` is exactly `digits` hexadecimal digits in lower case.
inline bool IsLowerHex(absl::string_view text, size_t digits) {
  return IsHex(text, digits) && std::none_of(text.begin(), text.end(), absl::ascii_isupper);
}

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_TEXT_H_
