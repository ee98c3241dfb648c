#include "services/deduplicator/core/pair/bands.h"

#include "common/base/hash.h"
#include "services/deduplicator/core/sign/minhash.h"

namespace kernelmill::deduplicator {
namespace {

constexpr double kRecall = 0.99;

// By repeated multiplication: the same on every machine, as a library's pow need not be.
double Power(double base, int exponent) {
  double power = 1;
  for (int i = 0; i < exponent; ++i) power *= base;
  return power;
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

}  // namespace kernelmill::deduplicator
