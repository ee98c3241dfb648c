#include "services/deduplicator/core/jaccard.h"

#include <algorithm>

namespace kernelmill::deduplicator {

Overlap Compare(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b) {
  const uint64_t* i = a.data();
  const uint64_t* j = b.data();
  const uint64_t* const i_end = i + a.size();
  const uint64_t* const j_end = j + b.size();
  uint32_t common = 0;
  // No branch on the comparison: which side is smaller is a coin toss that no predictor wins.
  while (i != i_end && j != j_end) {
    const uint64_t x = *i;
    const uint64_t y = *j;
    common += x == y;
    i += x <= y;
    j += y <= x;
  }
  return {common, static_cast<uint32_t>(a.size() + b.size()) - common};
}

double Similarity(Overlap overlap) {
  if (overlap.total == 0) return 0;
  return static_cast<double>(overlap.common) / static_cast<double>(overlap.total);
}

bool SizesMayReach(size_t a, size_t b, double threshold) {
  return Similarity({static_cast<uint32_t>(std::min(a, b)),
                     static_cast<uint32_t>(std::max(a, b))}) >= threshold;
}

}  // namespace kernelmill::deduplicator
