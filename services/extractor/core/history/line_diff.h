#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_LINE_DIFF_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_LINE_DIFF_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

// A text of lines, and where its first line is in its file.
struct DiffSide {
  absl::string_view path;
  absl::string_view text;
  int first_line = 1;
};

// Returns the unified difference of two texts, with three lines of context and the line numbers of
// the files. It is the shortest one of Myers's algorithm; texts that differ in more than 2,000
// lines are one hunk each. A last line without an end is marked as git marks it.
std::string UnifiedDiff(const DiffSide& before, const DiffSide& after);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_LINE_DIFF_H_
