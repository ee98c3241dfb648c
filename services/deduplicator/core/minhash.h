#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_MINHASH_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_MINHASH_H_

#include <array>
#include <cstdint>

#include "absl/types/span.h"

namespace kernelmill::deduplicator {

inline constexpr int kPermutations = 128;

using MinHashValues = std::array<uint32_t, kPermutations>;

// The MinHash of a set of 64-bit hashes. Of an empty set: all ones. The same on every machine.
MinHashValues MinHash(absl::Span<const uint64_t> shingles);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_MINHASH_H_
