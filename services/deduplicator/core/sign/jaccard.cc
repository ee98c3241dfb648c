#include "services/deduplicator/core/sign/jaccard.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>

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

  // No branch on the comparison: which side is smaller is a coin toss that no predictor wins.
  void Step() {
    const uint64_t x = *a;
    const uint64_t y = *b;
    common += x == y;
    a += x <= y;
    b += y <= x;
  }
};

// Both take at least `steps` steps, or all there are.
void AdvanceBaseline(size_t steps, Merge* merge) {
  for (; steps > 0 && !merge->Done(); --steps) merge->Step();
}

#if defined(__x86_64__)
// Four of one set are compared with four of the other at once, in the four turns that bring each
// to each; then those whose last is the smaller are done with.
[[gnu::target("avx2,popcnt")]] void AdvanceAvx2(size_t steps, Merge* merge) {
  const uint64_t* a = merge->a;
  const uint64_t* b = merge->b;
  uint32_t common = 0;
  for (size_t done = 0; done < steps && merge->a_end - a >= 4 && merge->b_end - b >= 4; done += 4) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a));
    const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
    const __m256i equal = _mm256_or_si256(
        _mm256_or_si256(_mm256_cmpeq_epi64(x, y),
                        _mm256_cmpeq_epi64(x, _mm256_permute4x64_epi64(y, 0b00'11'10'01))),
        _mm256_or_si256(_mm256_cmpeq_epi64(x, _mm256_permute4x64_epi64(y, 0b01'00'11'10)),
                        _mm256_cmpeq_epi64(x, _mm256_permute4x64_epi64(y, 0b10'01'00'11))));
    common += static_cast<uint32_t>(
        std::popcount(static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)))));
    const uint64_t last_a = a[3];
    const uint64_t last_b = b[3];
    a += last_a <= last_b ? 4 : 0;
    b += last_b <= last_a ? 4 : 0;
  }
  merge->a = a;
  merge->b = b;
  merge->common += common;
  if (merge->Left() < 4) AdvanceBaseline(steps, merge);
}
#endif

using AdvanceFunction = void (*)(size_t, Merge*);

AdvanceFunction BestAdvance() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return AdvanceAvx2;
#endif
  return AdvanceBaseline;
}

}  // namespace

Overlap Compare(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b) {
  return CompareAtLeast(a, b, 0);
}

Overlap CompareAtLeast(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b,
                       double threshold) {
  static const AdvanceFunction advance = BestAdvance();
  const auto sizes = static_cast<uint32_t>(a.size() + b.size());
  Merge merge{a.data(), a.data() + a.size(), b.data(), b.data() + b.size()};
  while (!merge.Done()) {
    // Even if all that is left were in common.
    const auto most = merge.common + static_cast<uint32_t>(merge.Left());
    if (Similarity({most, sizes - most}) < threshold) break;
    advance(kStride, &merge);
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
