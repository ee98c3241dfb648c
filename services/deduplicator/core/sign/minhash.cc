// The basic idea: order all possible shingles at random, and look at the first one of each of two
// sets in that order. The two are the same shingle with a probability of exactly |A and B| / |A or
// B|, the Jaccard similarity: the first of the union is equally likely to be any of its members,
// and it is the first of both just when it lies in both. With 128 such orders, the share of them in
// which the firsts agree estimates the similarity with a standard deviation of at most sqrt(J (1 -
// J) / 128), and a set of any size has become 128 numbers.
//
// Order b puts those shingles first that are b's own, and then the rest. A shingle is the own of
// one order alone, the one that the upper 7 bits of its hash number; own ones are ordered by the
// hash itself, since XXH3 has spread it evenly. So one step a shingle settles every order that has
// an own one: of a set of 400 shingles all but five of the 128. Only the orders that are left look
// at the whole set, by a permutation of the 32-bit numbers, x -> a x + b mod 2^32 with a odd,
// applied to the hash folded to 32 bits: multiplying by an odd number is a bijection, so it favours
// no value. Every order ranks all possible shingles whatever the set is, which makes the argument
// above hold for it; that no two orders begin with the same shingle makes the estimate the better.
// The fold makes two shingles of the same set equal with a probability of 2^-32, which is the only
// bias there is.
//
// The constants are 128 pairs (a, b) drawn in that order from SplitMix64 started at kSeed: the
// upper half of each output, a made odd by setting its lowest bit. They are a part of stored data:
// other constants are another version of the sign stage.
//
// Where few orders are left, each streams over the shingles by itself, several shingles at a time;
// where many are, of small sets, kBlock of them stay in registers while the shingles stream by. On
// x86 the same loops are compiled for AVX2 as well, and chosen where the processor has it. Integer
// arithmetic: all of them give the same numbers.

#include "services/deduplicator/core/sign/minhash.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

namespace kernelmill::deduplicator {
namespace {

constexpr uint64_t kSeed = 0x6b65726e656c6d6c;  // "kernelml"
constexpr int kBlock = 32;
constexpr int kLanes = 32;      // shingles at a time
constexpr int kFewOrders = 48;  // as fast one by one as all in blocks
constexpr int kOrderBits = 7;
static_assert(kPermutations == 1 << kOrderBits && kPermutations % kBlock == 0);

// A set of orders.
class OrderSet {
 public:
  static OrderSet All() {
    OrderSet all;
    all.words_.fill(~uint64_t{0});
    return all;
  }
  void Remove(int order) { words_[order / 64] &= ~(uint64_t{1} << (order % 64)); }
  int Size() const {
    int size = 0;
    for (const uint64_t word : words_) size += std::popcount(word);
    return size;
  }
  template <typename Visit>
  [[gnu::always_inline]] void ForEach(Visit visit) const {
    for (size_t w = 0; w < words_.size(); ++w) {
      for (uint64_t word = words_[w]; word != 0; word &= word - 1) {
        visit(static_cast<int>(w) * 64 + std::countr_zero(word));
      }
    }
  }

 private:
  std::array<uint64_t, kPermutations / 64> words_{};
};

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

// The least value of permutations [first, first + kBlock).
[[gnu::always_inline]] inline void MinBlock(int first, const uint32_t* values, size_t count,
                                            uint32_t* out) {
  const uint32_t* a = &kPermutationTable.a[first];
  const uint32_t* b = &kPermutationTable.b[first];
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

// The least value of one permutation.
[[gnu::always_inline]] inline uint32_t MinOne(uint32_t a, uint32_t b, const uint32_t* values,
                                              size_t count) {
  uint32_t least[kLanes];
  for (int j = 0; j < kLanes; ++j) least[j] = ~uint32_t{0};
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) {
      const uint32_t y = a * values[i + j] + b;
      least[j] = y < least[j] ? y : least[j];
    }
  }
  for (; i < count; ++i) least[0] = std::min(least[0], a * values[i] + b);
  return *std::min_element(least, least + kLanes);
}

// Of the permutations whose bits are set in `wanted` the least values; of others anything.
[[gnu::always_inline]] inline void MinOf(const OrderSet& wanted, const uint32_t* values,
                                         size_t count, uint32_t* out) {
  if (wanted.Size() > kFewOrders) {
    for (int j = 0; j < kPermutations; j += kBlock) MinBlock(j, values, count, out + j);
    return;
  }
  wanted.ForEach([&](int j) {
    out[j] = MinOne(kPermutationTable.a[j], kPermutationTable.b[j], values, count);
  });
}

void MinBaseline(const OrderSet& wanted, const uint32_t* values, size_t count, uint32_t* out) {
  MinOf(wanted, values, count, out);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void MinAvx2(const OrderSet& wanted, const uint32_t* values, size_t count,
                                     uint32_t* out) {
  MinOf(wanted, values, count, out);
}
#endif

using MinFunction = void (*)(const OrderSet&, const uint32_t*, size_t, uint32_t*);

MinFunction BestMin() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return MinAvx2;
#endif
  return MinBaseline;
}

// Of each order the least of its own shingles; returns the orders that have none.
OrderSet FirstOwn(absl::Span<const uint64_t> shingles, std::array<uint64_t, kPermutations>* least) {
  least->fill(~uint64_t{0});
  OrderSet without = OrderSet::All();
  for (const uint64_t shingle : shingles) {
    const auto order = static_cast<int>(shingle >> (64 - kOrderBits));
    uint64_t& first = (*least)[order];
    first = shingle < first ? shingle : first;
    without.Remove(order);
  }
  return without;
}

// Of the orders the first of all shingles.
void FirstOfAll(const OrderSet& orders, absl::Span<const uint64_t> shingles,
                MinHashValues* values) {
  static const MinFunction min = BestMin();
  std::vector<uint32_t> folded(shingles.size());
  for (size_t i = 0; i < shingles.size(); ++i) {
    folded[i] = static_cast<uint32_t>(shingles[i] ^ (shingles[i] >> 32));
  }
  std::array<uint32_t, kPermutations> least;
  min(orders, folded.data(), folded.size(), least.data());
  orders.ForEach([&](int i) { (*values)[i] = static_cast<uint16_t>(least[i]); });
}

}  // namespace

MinHashValues MinHash(absl::Span<const uint64_t> shingles) {
  std::array<uint64_t, kPermutations> least;
  const OrderSet without = FirstOwn(shingles, &least);
  MinHashValues values;
  for (int i = 0; i < kPermutations; ++i) values[i] = static_cast<uint16_t>(least[i]);
  if (without.Size() > 0) FirstOfAll(without, shingles, &values);
  return values;
}

}  // namespace kernelmill::deduplicator
