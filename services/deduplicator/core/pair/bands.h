#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_BANDS_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_BANDS_H_

#include <cstdint>

#include "absl/types/span.h"

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

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_BANDS_H_
