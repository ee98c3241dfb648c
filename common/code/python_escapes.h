#ifndef KERNELMILL_COMMON_CODE_PYTHON_ESCAPES_H_
#define KERNELMILL_COMMON_CODE_PYTHON_ESCAPES_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::code {

// A backslash in a string literal that is not raw, and what it stands for.
struct PythonEscape {
  size_t end = 0;     // offset after the sequence
  std::string value;  // UTF-8; the backslash itself if it begins no sequence
};

// Reads the backslash at `at`. `bytes`: the literal is of bytes, which have fewer sequences. The
// characters of \N{name} are not known and become U+FFFD, as an invalid code point does.
PythonEscape ReadPythonEscape(absl::string_view text, size_t at, bool bytes);

}  // namespace kernelmill::code

#endif  // KERNELMILL_COMMON_CODE_PYTHON_ESCAPES_H_
