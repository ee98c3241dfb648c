#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_MINHASH_INDEX_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_MINHASH_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "services/deduplicator/core/sign/minhash.h"

namespace kernelmill::deduplicator {

// An index of MinHashes by the buckets of many bands. It finds the sets that may be similar to
// another in a time that hardly depends on how many there are. At a threshold of 0.7 it misses one
// pair in two million at the threshold, and fewer above.
//
// Add() all, then Build(), then Find(). It holds 1.5 KiB for each. Not thread-safe.
class MinHashIndex {
 public:
  explicit MinHashIndex(double threshold);

  void Add(uint32_t set, const MinHashValues& values) {
    sets_.push_back(set);
    values_.push_back(values);
  }
  void Build();

  // Appends the sets that share a bucket with these values, and agree with enough of them; each
  // once.
  void Find(const MinHashValues& values, std::vector<uint32_t>* found);

  size_t size() const { return sets_.size(); }

 private:
  struct Entry {
    uint32_t key;   // the lower half of the bucket's name
    uint32_t slot;  // in sets_
  };

  const Bands bands_;
  const int least_agreeing_;
  std::vector<uint32_t> sets_;
  std::vector<MinHashValues> values_;  // until Build()
  std::vector<Sketch> sketches_;
  std::vector<Entry> entries_;     // by the upper bits of the buckets' names
  std::vector<uint32_t> starts_;   // the first entry by these bits, and the end
  int start_shift_ = 63;           // leaves the bits that index starts_
  std::vector<uint32_t> met_by_;   // the last Find() that met the slot
  std::vector<uint64_t> buckets_;  // those of the values that are looked for
  uint32_t finds_ = 0;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_MINHASH_INDEX_H_
