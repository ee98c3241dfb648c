#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_SKETCH_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_SKETCH_H_

#include <array>
#include <cstdint>

#include "services/deduplicator/core/sign/minhash.h"

namespace kernelmill::deduplicator {

// The lower half of each MinHash value: enough to estimate similarity from, at half the memory.
// Values that differ agree so by chance once in 256.
using Sketch = std::array<uint8_t, kPermutations>;

Sketch SketchOf(const MinHashValues& values);

// In how many of the 128 values the two agree.
int CountAgreeing(const Sketch& x, const Sketch& y);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_SKETCH_H_
