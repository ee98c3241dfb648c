#include "services/deduplicator/core/jaccard.h"

#include <algorithm>

namespace kernelmill::deduplicator {

namespace {

constexpr size_t kStride = 64;

// Where two sorted sets have been read up to.
struct Merge {
  const uint64_t* a;
  const uint64_t* a_end;
  const uint64_t* b;
  const uint64_t* b_end;
  uint32_t common = 0;

  bool Done() const { return a == a_end || b == b_end; }
  size_t Left() const { return static_cast<size_t>(std::min(a_end - a, b_end - b)); }

  // Similar sets agree in long runs. Takes at least four more on both sides.
  bool SkipFourEqual() {
    const uint64_t differ = (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]);
    if (differ != 0) return false;
    a += 4;
    b += 4;
    common += 4;
    return true;
  }

  // No branch on the comparison: which side is smaller is a coin toss that no predictor wins.
  void Step() {
    const uint64_t x = *a;
    const uint64_t y = *b;
    common += x == y;
    a += x <= y;
    b += y <= x;
  }
};

}  // namespace

Overlap Compare(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b) {
  Merge merge{a.data(), a.data() + a.size(), b.data(), b.data() + b.size()};
  while (!merge.Done()) merge.Step();
  return {merge.common, static_cast<uint32_t>(a.size() + b.size()) - merge.common};
}

Overlap CompareAtLeast(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b,
                       double threshold) {
  const auto sizes = static_cast<uint32_t>(a.size() + b.size());
  Merge merge{a.data(), a.data() + a.size(), b.data(), b.data() + b.size()};
  while (!merge.Done()) {
    // Even if all that is left were in common.
    const auto most = merge.common + static_cast<uint32_t>(merge.Left());
    if (Similarity({most, sizes - most}) < threshold) break;
    size_t steps = std::min(kStride, merge.Left());
    while (steps >= 4) {
      steps -= 4;
      if (merge.SkipFourEqual()) continue;
      for (int i = 0; i < 4; ++i) merge.Step();
    }
    for (; steps > 0; --steps) merge.Step();
  }
  return {merge.common, sizes - merge.common};
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
