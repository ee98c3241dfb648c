#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_JACCARD_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_JACCARD_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace kernelmill::deduplicator {

// The Jaccard similarity of two sets as the integers that it is made of.
struct Overlap {
  uint32_t common = 0;  // in both
  uint32_t total = 0;   // in either
};

// Of two sorted sets without repeats.
Overlap Compare(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b);

// The same where the similarity is at least the threshold; else it may end early, with too few in
// common to reach it.
Overlap CompareAtLeast(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b,
                       double threshold);

// common / total, correctly rounded; 0 where both sets are empty. Exact integers and one IEEE
// division: every machine gets the same double. A similarity that is the threshold as a person
// wrote it (7 of 10 and "0.7") gives the very double that the literal gives, so >= means what it
// says at the edge; multiplying by the threshold instead would not.
double Similarity(Overlap overlap);

// Whether sets of these sizes can be that similar at all.
bool SizesMayReach(size_t a, size_t b, double threshold);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_JACCARD_H_
