#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_MINHASH_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_MINHASH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace kernelmill::deduplicator {

inline constexpr int kPermutations = 128;

// MinHash and locality-sensitive hashing: a summary of a set from which similarity is estimated,
// and buckets that bring similar sets together. The .cc explains both. All functions are pure and
// give the same numbers on every machine.

// A MinHash: the lower 16 bits of the first shingle in each of 128 orders. Different shingles agree
// by chance once in 65,536. The verification of pairs corrects that, and half the size is twice the
// speed.
using MinHashValues = std::array<uint16_t, kPermutations>;

// Returns the MinHash of a set of 64-bit hashes, given in any order. For an empty set: all ones.
MinHashValues MinHash(absl::Span<const uint64_t> shingles);

// Locality-sensitive hashing: what brings similar sets together by their MinHash values, and what
// estimates their similarity from them.

// The bands of a MinHash: groups of its values. Each value is in several bands. Two sets that agree
// in all values of some band fall into one bucket.
class Bands {
 public:
  // Makes `count` bands of `rows` values, 1 to 16. The first 128 / rows have no value in common.
  Bands(int rows, int count);

  int rows() const { return rows_; }
  int count() const { return count_; }
  // Returns which values one band has.
  absl::Span<const uint8_t> GetPlaces(int band) const {
    return absl::MakeConstSpan(places_).subspan(static_cast<size_t>(band) * rows_, rows_);
  }
  // Returns the name of one band's bucket: a hash of the band's number and its values.
  uint64_t GetBucket(int band, const MinHashValues& values) const;

 private:
  int rows_;
  int count_;
  std::vector<uint8_t> places_;  // each band's values, one band after another
};

// Returns the most selective cut into 1, 2, 4, 8 or 16 rows, without a value in two bands, that
// still finds a pair at the threshold with a probability of at least 0.99. At 0.7: 4 rows and 32
// bands, which miss 2 of 10,000 pairs at the threshold and 5 of 100 million pairs at 0.8.
Bands BandsFor(double threshold);

// Returns `count` bands with as many rows as leave the share of missed pairs at the threshold at
// `missed` or below; at least one row.
Bands ManyBandsFor(double threshold, int count, double missed);

// The lower half of each MinHash value: enough to estimate similarity from, in half the memory.
// Different values agree by chance once in 256.
using Sketch = std::array<uint8_t, kPermutations>;

Sketch MakeSketch(const MinHashValues& values);

// Counts the values, of 128, in which the two agree.
int CountAgreeing(const Sketch& x, const Sketch& y);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SIGN_MINHASH_H_
