#ifndef KERNELMILL_COMMON_BASE_HEX_H_
#define KERNELMILL_COMMON_BASE_HEX_H_

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace kernelmill {

// Whether `text` is that many hexadecimal digits: 40 of a commit, 64 of a SHA-256.
inline bool IsHex(absl::string_view text, size_t digits) {
  return text.size() == digits && std::all_of(text.begin(), text.end(), absl::ascii_isxdigit);
}

// Likewise, and none of them in upper case.
inline bool IsLowerHex(absl::string_view text, size_t digits) {
  return IsHex(text, digits) && std::none_of(text.begin(), text.end(), absl::ascii_isupper);
}

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_HEX_H_
