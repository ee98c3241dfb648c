#ifndef KERNELMILL_COMMON_BASE_TEXT_H_
#define KERNELMILL_COMMON_BASE_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill {

// Whether `word` occurs in `text`. For whole files: memmem is vectorized in the C library, which
// absl::StrContains is not.
bool Contains(absl::string_view text, absl::string_view word);

// The first and the last part of a dotted name: "triton" and "load" of "triton.language.load", all
// of a name without a dot.
absl::string_view FirstPart(absl::string_view dotted);
absl::string_view LastPart(absl::string_view dotted);

// Whether `bytes` is well-formed UTF-8 (no surrogates, no overlong forms).
bool IsUtf8(absl::string_view bytes);

// `bytes` with each byte that is not part of well-formed UTF-8 replaced by U+FFFD.
std::string ToUtf8(absl::string_view bytes);

// `text` as a JSON string literal, quotes included; repaired to UTF-8 first.
std::string JsonString(absl::string_view text);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_TEXT_H_
