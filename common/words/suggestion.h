#ifndef KERNELMILL_COMMON_WORDS_SUGGESTION_H_
#define KERNELMILL_COMMON_WORDS_SUGGESTION_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill {

// Returns how many letters have to be added, left out, replaced or swapped with their neighbour to
// make one word of the other.
size_t CountEdits(absl::string_view a, absl::string_view b);

// Returns the known word that is nearest to what somebody wrote; empty if there is no known word.
// Letter case, blanks and marks do not count, and the beginning of a word is near to it: people
// write "Apache 2" and "--no_cache".
std::string FindNearest(absl::string_view written, const std::vector<std::string>& known);

// Returns " (did you mean WORD?)" for an error, with the nearest of the known words; empty if none
// is so near that it may have been meant.
std::string DidYouMean(absl::string_view written, const std::vector<std::string>& known);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_WORDS_SUGGESTION_H_
