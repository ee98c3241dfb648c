#include "services/deduplicator/core/pair/sketch.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>

#include <bit>
#endif

namespace kernelmill::deduplicator {
namespace {

int CountBaseline(const Sketch& x, const Sketch& y) {
  uint8_t agreeing = 0;  // at most 128
  for (int i = 0; i < kPermutations; ++i) agreeing += x[i] == y[i];
  return agreeing;
}

#if defined(__x86_64__)
[[gnu::target("avx2,popcnt")]] int CountAvx2(const Sketch& x, const Sketch& y) {
  int agreeing = 0;
  for (int i = 0; i < kPermutations; i += 32) {
    const __m256i equal =
        _mm256_cmpeq_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x.data() + i)),
                          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(y.data() + i)));
    agreeing += std::popcount(static_cast<uint32_t>(_mm256_movemask_epi8(equal)));
  }
  return agreeing;
}
#endif

using CountFunction = int (*)(const Sketch&, const Sketch&);

CountFunction BestCount() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return CountAvx2;
#endif
  return CountBaseline;
}

}  // namespace

Sketch SketchOf(const MinHashValues& values) {
  Sketch sketch;
  std::copy(values.begin(), values.end(), sketch.begin());
  return sketch;
}

int CountAgreeing(const Sketch& x, const Sketch& y) {
  static const CountFunction count = BestCount();
  return count(x, y);
}

}  // namespace kernelmill::deduplicator
