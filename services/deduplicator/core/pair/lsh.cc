#include "services/deduplicator/core/pair/lsh.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>

#include <bit>
#endif

#include "absl/strings/string_view.h"
#include "common/base/hash.h"

namespace kernelmill::deduplicator {
namespace {

constexpr double kRecall = 0.99;

// By repeated multiplication: the same on every machine, as a library's pow need not be.
double Power(double base, int exponent) {
  double power = 1;
  for (int i = 0; i < exponent; ++i) power *= base;
  return power;
}

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

Bands BandsFor(double threshold) {
  Bands best{1, kPermutations};
  for (const int rows : {2, 4, 8, 16}) {
    const int count = kPermutations / rows;
    if (1 - Power(1 - Power(threshold, rows), count) >= kRecall) best = {rows, count};
  }
  return best;
}

uint64_t BucketKey(int band, absl::Span<const uint16_t> values) {
  return StableHash64(absl::string_view(reinterpret_cast<const char*>(values.data()),
                                        values.size() * sizeof(uint16_t)),
                      static_cast<uint64_t>(band) + 1);
}

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
