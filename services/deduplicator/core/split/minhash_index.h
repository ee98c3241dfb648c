#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_MINHASH_INDEX_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_MINHASH_INDEX_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "services/deduplicator/core/sign/minhash.h"
#include "services/deduplicator/core/split/hash_index.h"

namespace kernelmill::deduplicator {

// An index of MinHashes by the buckets of many bands. It finds the sets that may be similar to
// another in a time that hardly depends on how many there are. At a threshold of 0.7 it misses one
// pair in two million at the threshold, and fewer above.
//
// Add() all, then Build(), then Find(). It holds 2.5 KiB for each. Not thread-safe.
class MinHashIndex {
 public:
  explicit MinHashIndex(double threshold);

  void Add(uint32_t set, const MinHashValues& values);
  void Build();

  // Appends the sets that share a bucket with these values, and agree with enough of them; each
  // once.
  void Find(const MinHashValues& values, std::vector<uint32_t>* found);

  size_t size() const { return sets_.size(); }

 private:
  template <typename GetValue>
  uint64_t MakeKey(int band, GetValue value) const;

  const Bands bands_;
  const int least_agreeing_;
  std::vector<uint32_t> sets_;
  // The values of all sets in each order, until Build().
  std::array<std::vector<uint16_t>, kPermutations> columns_;
  std::vector<Sketch> sketches_;
  HashIndex buckets_;             // places in sets_ by bucket
  std::vector<uint32_t> met_by_;  // the last Find() that met the place
  std::vector<uint64_t> keys_;    // of the buckets that may have an entry
  uint32_t finds_ = 0;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_MINHASH_INDEX_H_
