#ifndef KERNELMILL_CLIENT_EVALUATE_TEXT_OVERLAP_H_
#define KERNELMILL_CLIENT_EVALUATE_TEXT_OVERLAP_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::client {

// How alike two texts of Python are, 0 to 1, beyond what the deduplicator measures.

// Jaccard similarity of their words, which are what white space is between; 1 of two texts without
// any.
double WordOverlap(const std::string& a, const std::string& b);

// The share of tokens that are in the longest common subsequence of their tokens: 2 L / (n + m), as
// difflib and RapidFuzz have it. Comments are no tokens; 1 of two texts without any. Of a text only
// the first kMaxEditTokens count.
inline constexpr size_t kMaxEditTokens = 50000;
double EditSimilarity(absl::string_view a, absl::string_view b);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_TEXT_OVERLAP_H_
