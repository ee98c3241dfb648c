#ifndef KERNELMILL_CLIENT_EVALUATE_TEXT_OVERLAP_H_
#define KERNELMILL_CLIENT_EVALUATE_TEXT_OVERLAP_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::client {

// Similarities of two Python texts, 0 to 1, which the deduplicator does not measure.

// Returns the Jaccard similarity of the words, which are separated by white space. Two texts
// without words have similarity 1.
double WordOverlap(const std::string& a, const std::string& b);

// Returns the share of tokens that are in the longest common subsequence: 2 L / (n + m), as difflib
// and RapidFuzz define it. Comments do not count, and only the first kMaxEditTokens tokens of a
// text do. Two texts without tokens have similarity 1.
inline constexpr size_t kMaxEditTokens = 50000;
double EditSimilarity(absl::string_view a, absl::string_view b);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_TEXT_OVERLAP_H_
