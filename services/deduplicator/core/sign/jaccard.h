#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_JACCARD_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_JACCARD_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace kernelmill::deduplicator {

// The Jaccard similarity of two sets is the share of their union that both contain. All functions
// here are pure. Sets are spans of hashes, sorted, each hash once.

// The Jaccard similarity as the two integers that it is made of.
struct Overlap {
  uint32_t common = 0;  // in both
  uint32_t total = 0;   // in either
};

// Counts what two sets have in common.
Overlap Compare(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b);

// Returns the same as Compare() if the similarity is at least the threshold. Otherwise it may stop
// early, with an overlap that is below the threshold.
Overlap CompareAtLeast(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b,
                       double threshold);

// Returns common / total, correctly rounded, or 0 if both sets are empty. One IEEE division of
// exact integers gives the same double on every machine. A similarity that equals the threshold as
// a person wrote it (7 of 10, and "0.7") gives the same double as that literal, so that >= is exact
// at the edge. Multiplying by the threshold instead would not be.
double Similarity(Overlap overlap);

// Returns true if sets of these sizes can have at least that similarity.
bool SizesMayReach(size_t a, size_t b, double threshold);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_JACCARD_H_
