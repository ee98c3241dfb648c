#ifndef KERNELMILL_COMMON_BASE_HEX_H_
#define KERNELMILL_COMMON_BASE_HEX_H_

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace kernelmill {

// Returns whether `text` is exactly `digits` hexadecimal digits: 40 for a commit, 64 for a SHA-256.
inline bool IsHex(absl::string_view text, size_t digits) {
  return text.size() == digits && std::all_of(text.begin(), text.end(), absl::ascii_isxdigit);
}

// Returns whether `text` is exactly `digits` hexadecimal digits in lower case.
inline bool IsLowerHex(absl::string_view text, size_t digits) {
  return IsHex(text, digits) && std::none_of(text.begin(), text.end(), absl::ascii_isupper);
}

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_HEX_H_
