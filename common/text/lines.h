#ifndef KERNELMILL_COMMON_TEXT_LINES_H_
#define KERNELMILL_COMMON_TEXT_LINES_H_

#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill {

// Returns the lines of a text with their line ends; none for an empty text. They view the text.
std::vector<absl::string_view> SplitLines(absl::string_view text);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_TEXT_LINES_H_
