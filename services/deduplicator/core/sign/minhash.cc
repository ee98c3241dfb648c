// The basic idea of MinHash: order all possible shingles at random, and compare the first shingle
// of two sets A and B in that order. The two are the same shingle with a probability of exactly
// |A and B| / |A or B|, the Jaccard similarity J: every member of the union is equally likely to be
// the first, and it is the first of both sets only if both contain it. With 128 such orders, the
// share of orders in which the firsts agree estimates J with a standard deviation of at most
// sqrt(J (1 - J) / 128), and a set of any size has become 128 numbers.
//
// How an order is made. Each shingle is owned by one order, the one that the upper 7 bits of its
// hash name. An order ranks the shingles that it owns first, by the hash itself (XXH3 spreads it
// evenly), and then all others. So one step per shingle settles every order that owns one: for a
// set of 400 shingles, 123 of the 128. Only the remaining orders look at the whole set.
// They rank it by a permutation of the 32-bit numbers, x -> a x + b mod 2^32 with a odd, applied to
// the hash folded to 32 bits; multiplying by an odd number is a bijection, so that it favours no
// value. Every order ranks all possible shingles, whatever the set is, so that the argument above
// holds for it. No two orders begin with the same shingle, which makes the estimate better. The
// fold makes two shingles of a set equal with a probability of 2^-32; there is no other bias.
//
// The constants are 128 pairs (a, b) drawn in that order from SplitMix64 started at kSeed: the
// upper half of each output, with the lowest bit of a set to make it odd. They are part of stored
// data: changing one needs a new version of the sign stage.
//
// Speed. If few orders remain, each streams over the shingles by itself, several shingles at a
// time. If many remain, as in small sets, kBlock orders stay in registers while the shingles stream
// by. On x86 the same loops are compiled for AVX2 too, and used if the processor has it. This is
// integer arithmetic, so that every variant gives the same numbers.
//
// The basic idea of bands (locality-sensitive hashing): comparing all pairs of MinHashes is
// quadratic. Instead, compare only sets that agree in all values of some band of a few. Similar
// sets almost always do; dissimilar sets rarely do. With each further value in a band, chance
// agreement is rarer by a factor. More bands make up for it; each value is then in several of them.

#include "services/deduplicator/core/sign/minhash.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/base/hash.h"

namespace kernelmill::deduplicator {
namespace {

constexpr uint64_t kSeed = 0x6b65726e656c6d6c;  // "kernelml"
constexpr int kBlock = 32;
constexpr int kLanes = 32;      // shingles that MinOne reads at a time
constexpr int kFewOrders = 48;  // up to this many, one by one is faster than all in blocks
constexpr int kOrderBits = 7;
static_assert(kPermutations == 1 << kOrderBits && kPermutations % kBlock == 0);

// A set of orders, as a bit each.
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

// Writes the least value under each of the permutations [first, first + kBlock).
[[gnu::always_inline]] inline void MinBlock(int first, const uint32_t* values, size_t count,
                                            uint32_t* out) {
  const uint32_t* a = &kPermutationTable.a[first];
  const uint32_t* b = &kPermutationTable.b[first];
  uint32_t least[kBlock];
  std::fill_n(least, kBlock, ~uint32_t{0});
  for (size_t i = 0; i < count; ++i) {
    const uint32_t x = values[i];
    for (int j = 0; j < kBlock; ++j) {
      const uint32_t y = a[j] * x + b[j];
      least[j] = y < least[j] ? y : least[j];
    }
  }
  for (int j = 0; j < kBlock; ++j) out[j] = least[j];
}

// Returns the least value under one permutation.
[[gnu::always_inline]] inline uint32_t MinOne(uint32_t a, uint32_t b, const uint32_t* values,
                                              size_t count) {
  uint32_t least[kLanes];
  std::fill_n(least, kLanes, ~uint32_t{0});
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

// Writes the least value under each wanted permutation. Other places of `out` may hold anything.
[[gnu::always_inline]] inline void MinWanted(const OrderSet& wanted, const uint32_t* values,
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
  MinWanted(wanted, values, count, out);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void MinAvx2(const OrderSet& wanted, const uint32_t* values, size_t count,
                                     uint32_t* out) {
  MinWanted(wanted, values, count, out);
}
#endif

using MinFunction = void (*)(const OrderSet&, const uint32_t*, size_t, uint32_t*);

MinFunction BestMin() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return MinAvx2;
#endif
  return MinBaseline;
}

// Finds the least of each order's own shingles. Returns the orders that own none.
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

// Sets the values of `orders`, which own none of the shingles, from the whole set.
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

constexpr double kRecall = 0.99;  // at the threshold
constexpr int kMostRows = 16;
constexpr uint64_t kBandSeed = 0x62616e6473;  // "bands"

// Multiplies repeatedly, since a library's pow may differ between machines.
double Power(double base, int exponent) {
  double power = 1;
  for (int i = 0; i < exponent; ++i) power *= base;
  return power;
}

// Returns the share of pairs at the threshold that agree in all values of no band. The number of
// agreeing values has a binomial distribution; of so many, `agrees` is the chance that a band has
// only these.
double ShareMissed(double threshold, int rows, int count) {
  if (threshold == 1) return 0;
  double missed = 0;
  double chance = Power(1 - threshold, kPermutations);  // that no value agrees
  for (int agreeing = 0; agreeing <= kPermutations; ++agreeing) {
    double agrees = 1;
    for (int i = 0; i < rows; ++i) {
      agrees *= std::max(0, agreeing - i) / static_cast<double>(kPermutations - i);
    }
    missed += chance * Power(1 - agrees, count);
    chance *= threshold / (1 - threshold) * (kPermutations - agreeing) / (agreeing + 1);
  }
  return missed;
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

MinHashValues MinHash(absl::Span<const uint64_t> shingles) {
  std::array<uint64_t, kPermutations> least;
  const OrderSet without = FirstOwn(shingles, &least);
  MinHashValues values;
  for (int i = 0; i < kPermutations; ++i) values[i] = static_cast<uint16_t>(least[i]);
  if (without.Size() > 0) FirstOfAll(without, shingles, &values);
  return values;
}

// The bands are cut from one random order of the values after another, so that each value is in as
// many bands as any other.
Bands::Bands(int rows, int count) : rows_(rows), count_(count) {
  std::array<uint8_t, kPermutations> order;
  std::iota(order.begin(), order.end(), uint8_t{0});
  uint64_t state = kBandSeed;
  size_t at = 0;
  for (int band = 0; band < count; ++band) {
    if (at + rows_ > kPermutations) {
      for (size_t i = kPermutations - 1; i > 0; --i) {
        std::swap(order[i], order[SplitMix64(&state) % (i + 1)]);
      }
      at = 0;
    }
    places_.insert(places_.end(), order.begin() + at, order.begin() + at + rows_);
    at += rows_;
  }
}

// More rows mean fewer false candidates. The chance that some band agrees is
// 1 - (1 - J^rows)^count.
Bands BandsFor(double threshold) {
  int best = 1;
  for (const int rows : {2, 4, 8, 16}) {
    const int count = kPermutations / rows;
    if (1 - Power(1 - Power(threshold, rows), count) >= kRecall) best = rows;
  }
  return Bands(best, kPermutations / best);
}

Bands ManyBandsFor(double threshold, int count, double missed) {
  int rows = 1;
  while (rows < kMostRows && ShareMissed(threshold, rows + 1, count) <= missed) ++rows;
  return Bands(rows, count);
}

uint64_t Bands::GetBucket(int band, const MinHashValues& values) const {
  std::array<uint16_t, kMostRows> chosen;
  for (int i = 0; i < rows_; ++i) chosen[i] = values[places_[band * rows_ + i]];
  return StableHash64(
      absl::string_view(reinterpret_cast<const char*>(chosen.data()), rows_ * sizeof(uint16_t)),
      static_cast<uint64_t>(band) + 1);
}

// A sketch has the low byte of each value. Different values agree in it by chance once in 256
// times.
Sketch MakeSketch(const MinHashValues& values) {
  Sketch sketch;
  std::copy(values.begin(), values.end(), sketch.begin());
  return sketch;
}

int CountAgreeing(const Sketch& x, const Sketch& y) {
  static const CountFunction count = BestCount();
  return count(x, y);
}

}  // namespace kernelmill::deduplicator
