#ifndef KERNELMILL_COMMON_TEXT_SAFE_TEXT_H_
#define KERNELMILL_COMMON_TEXT_SAFE_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::client {

// A text of a repository as lines that a terminal may be given, of at most `width` characters each:
// longer lines go on below, tabs are four blanks, and what a terminal would act on or hide is
// spelled out: control characters as \x1b, those that turn or hide text as \u202e, bytes that are
// no UTF-8 as \xff.
std::vector<std::string> SafeLines(absl::string_view text, int width);

// The next character of a text, or byte that is no UTF-8, and how it is spelled out where it must
// not be shown as it is; else `spelled` is empty. A tab is not spelled out.
struct SafePiece {
  absl::string_view bytes;
  std::string spelled;
};
// Takes it from the text, which is not empty.
SafePiece TakeSafePiece(absl::string_view* text);

}  // namespace kernelmill::client

#endif  // KERNELMILL_COMMON_TEXT_SAFE_TEXT_H_
