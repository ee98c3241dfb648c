#ifndef KERNELMILL_SERVICES_CLI_REVIEW_SAFE_TEXT_H_
#define KERNELMILL_SERVICES_CLI_REVIEW_SAFE_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::cli {

// A text of a repository as lines that a terminal may be given, of at most `width` characters each:
// longer lines go on below, tabs are four blanks, and what a terminal would act on or hide is
// spelled out: control characters as \x1b, those that turn or hide text as \u202e, bytes that are
// no UTF-8 as \xff.
std::vector<std::string> SafeLines(absl::string_view text, int width);

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_REVIEW_SAFE_TEXT_H_
