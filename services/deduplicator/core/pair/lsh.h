#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_LSH_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_LSH_H_

#include <array>
#include <cstdint>

#include "absl/types/span.h"
#include "services/deduplicator/core/sign/minhash.h"

// Locality-sensitive hashing: what brings similar sets together by their MinHash values, and what
// estimates their similarity from them.
namespace kernelmill::deduplicator {

// How a MinHash is cut: `count` bands of `rows` values each. Two sets of similarity s agree in all
// rows of some band with a probability of 1 - (1 - s^rows)^count.
struct Bands {
  int rows = 1;
  int count = 128;
};

// The most selective cut, of 1, 2, 4, 8 or 16 rows, that still finds a pair at the threshold with a
// probability of at least 0.99: at 0.7, 4 rows and 32 bands (0.9998; at 0.8, all but 5 in 100
// million).
Bands BandsFor(double threshold);

// Names the bucket of one band: a hash of its place and its values.
uint64_t BucketKey(int band, absl::Span<const uint16_t> values);

// The lower half of each MinHash value: enough to estimate similarity from, at half the memory.
// Values that differ agree so by chance once in 256.
using Sketch = std::array<uint8_t, kPermutations>;

Sketch SketchOf(const MinHashValues& values);

// In how many of the 128 values the two agree.
int CountAgreeing(const Sketch& x, const Sketch& y);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_LSH_H_
