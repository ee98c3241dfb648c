#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_MINHASH_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_MINHASH_H_

#include <array>
#include <cstdint>

#include "absl/types/span.h"

namespace kernelmill::deduplicator {

inline constexpr int kPermutations = 128;

// The lower 16 bits of the first shingle in each of 128 orders: unequal ones agree by chance once
// in 65,536, which the verification of pairs makes good, and half the size is twice the speed.
using MinHashValues = std::array<uint16_t, kPermutations>;

// The MinHash of a set of 64-bit hashes, in any order. Of an empty set: all ones. The same on every
// machine.
MinHashValues MinHash(absl::Span<const uint64_t> shingles);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_MINHASH_H_
