// The basic idea: merge the two sorted sets, and count the steps on which both have the same hash.
// Random hashes make the comparison in a merge unpredictable, so that the loop has no branch on it;
// on AVX2 it compares four hashes with four at once. Every kStride steps the merge stops if even a
// perfect rest could not reach the threshold: most candidates are given up early.

#include "services/deduplicator/core/sign/jaccard.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>

namespace kernelmill::deduplicator {

namespace {

constexpr size_t kStride = 64;  // steps between two checks of the threshold

// The state of a merge: what is left of either set, and how many hashes both had so far.
struct Merge {
  const uint64_t* a;
  const uint64_t* a_end;
  const uint64_t* b;
  const uint64_t* b_end;
  uint32_t common = 0;

  bool Done() const { return a == a_end || b == b_end; }
  size_t Left() const { return static_cast<size_t>(std::min(a_end - a, b_end - b)); }

  // Advances without a branch: which side is smaller is random, so that no predictor helps.
  void Step() {
    const uint64_t x = *a;
    const uint64_t y = *b;
    common += x == y;
    a += x <= y;
    b += y <= x;
  }
};

// Takes at least `steps` steps, or all that are left.
void AdvanceBaseline(size_t steps, Merge* merge) {
  for (; steps > 0 && !merge->Done(); --steps) merge->Step();
}

#if defined(__x86_64__)
// As AdvanceBaseline. Compares four hashes of one set with four of the other: one vector is rotated
// three times, so that every hash meets every other. Then the vector with the smaller last hash is
// done, since nothing that follows in the other set can equal one of it.
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
    // The best case: all that is left is in common.
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
