// The basic idea: order all possible shingles at random, and look at the first one of each of two
// sets in that order. The two are the same shingle with a probability of exactly |A and B| / |A or
// B|, the Jaccard similarity: the first of the union is equally likely to be any of its members,
// and it is the first of both just when it lies in both. With 128 independent orders, the share of
// them in which the firsts agree estimates the similarity with a standard deviation of sqrt(J (1 -
// J) / 128), and a set of any size has become 128 numbers.
//
// An order is a permutation of the 32-bit numbers, x -> a x + b mod 2^32 with a odd, applied to the
// shingle's hash folded to 32 bits; the first is the smallest. Multiplying by an odd number is a
// bijection, so no order favours any value; and since XXH3 has already spread the shingles evenly,
// the affine map needs to do no more than rank them anew. The fold makes two shingles of the same
// set equal with a probability of 2^-32, which is the only bias there is.
//
// The constants are 128 pairs (a, b) drawn in that order from SplitMix64 started at kSeed: the
// upper half of each output, a made odd by setting its lowest bit. They are a part of stored data:
// other constants are another version of the sign stage.
//
// The work is one multiply, add and minimum per shingle and permutation. kBlock permutations at a
// time stay in registers while the shingles stream by; on x86 the same loop is compiled for AVX2 as
// well, and chosen where the processor has it. Integer arithmetic: both give the same numbers.

#include "services/deduplicator/core/minhash.h"

#include <cstddef>
#include <vector>

namespace kernelmill::deduplicator {
namespace {

constexpr uint64_t kSeed = 0x6b65726e656c6d6c;  // "kernelml"
constexpr int kBlock = 32;
static_assert(kPermutations % kBlock == 0);

struct Permutations {
  std::array<uint32_t, kPermutations> a;
  std::array<uint32_t, kPermutations> b;
};

constexpr uint64_t SplitMix64(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

constexpr Permutations MakePermutations() {
  Permutations p{};
  uint64_t state = kSeed;
  for (int i = 0; i < kPermutations; ++i) {
    p.a[i] = static_cast<uint32_t>(SplitMix64(&state) >> 32) | 1;
    p.b[i] = static_cast<uint32_t>(SplitMix64(&state) >> 32);
  }
  return p;
}

constexpr Permutations kPermutationTable = MakePermutations();

[[gnu::always_inline]] inline void MinBlock(const uint32_t* a, const uint32_t* b,
                                            const uint32_t* values, size_t count, uint32_t* out) {
  uint32_t least[kBlock];
  for (int j = 0; j < kBlock; ++j) least[j] = ~uint32_t{0};
  for (size_t i = 0; i < count; ++i) {
    const uint32_t x = values[i];
    for (int j = 0; j < kBlock; ++j) {
      const uint32_t y = a[j] * x + b[j];
      least[j] = y < least[j] ? y : least[j];
    }
  }
  for (int j = 0; j < kBlock; ++j) out[j] = least[j];
}

void MinBaseline(const uint32_t* values, size_t count, uint32_t* out) {
  for (int j = 0; j < kPermutations; j += kBlock) {
    MinBlock(&kPermutationTable.a[j], &kPermutationTable.b[j], values, count, out + j);
  }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void MinAvx2(const uint32_t* values, size_t count, uint32_t* out) {
  for (int j = 0; j < kPermutations; j += kBlock) {
    MinBlock(&kPermutationTable.a[j], &kPermutationTable.b[j], values, count, out + j);
  }
}
#endif

using MinFunction = void (*)(const uint32_t*, size_t, uint32_t*);

MinFunction BestMin() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return MinAvx2;
#endif
  return MinBaseline;
}

}  // namespace

MinHashValues MinHash(absl::Span<const uint64_t> shingles) {
  static const MinFunction min = BestMin();
  std::vector<uint32_t> folded(shingles.size());
  for (size_t i = 0; i < shingles.size(); ++i) {
    folded[i] = static_cast<uint32_t>(shingles[i] ^ (shingles[i] >> 32));
  }
  std::array<uint32_t, kPermutations> least;
  min(folded.data(), folded.size(), least.data());
  MinHashValues values;
  for (int i = 0; i < kPermutations; ++i) values[i] = static_cast<uint16_t>(least[i]);
  return values;
}

}  // namespace kernelmill::deduplicator
