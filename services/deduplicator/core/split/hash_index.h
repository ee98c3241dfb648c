#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_HASH_INDEX_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_HASH_INDEX_H_

#include <cstddef>
#include <cstdint>

#include "services/deduplicator/core/split/huge_array.h"

namespace kernelmill::deduplicator {

// A map from 64-bit keys to numbers, several a key. A look-up that finds nothing reads one word. It
// takes two rounds: Add() all entries, EndRound(), Add() the same entries, EndRound(). Keys must be
// spread evenly. A look-up may also find the numbers of another key, once in 2^32 entries. It holds
// some fourteen bytes an entry.
//
// The basic idea: the entries lie in one array, sorted by the upper bits of their keys; the first
// round counts how many there are of each, the second fills them in. A Bloom filter answers most
// look-ups first; its bits for one key are all in one word.
class HashIndex {
 public:
  // `expected`: about as many entries.
  explicit HashIndex(size_t expected = 0);

  // Returns a key for a hash, if only some hashes have entries, such as those below a limit.
  static uint64_t MakeKey(uint64_t hash) { return hash * 0x9e3779b97f4a7c15; }

  void Add(uint64_t key, uint32_t number);
  void EndRound();

  // Returns false if there is surely no entry.
  bool MayHave(uint64_t key) const {
    const uint64_t bits = Bits(key);
    return (filter_[key >> filter_shift_] & bits) == bits;
  }

  // These ask for the memory that the other two read, so that many look-ups wait for it together.
  void PrefetchMayHave(uint64_t key) const { __builtin_prefetch(&filter_[key >> filter_shift_]); }
  void PrefetchForEach(uint64_t key) const { __builtin_prefetch(&starts_[key >> start_shift_]); }

  template <typename Visit>
  void ForEach(uint64_t key, Visit visit) const {
    const uint32_t end = starts_[(key >> start_shift_) + 1];
    for (uint32_t i = starts_[key >> start_shift_]; i < end; ++i) {
      if (entries_[i].key == static_cast<uint32_t>(key)) visit(entries_[i].number);
    }
  }

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    uint32_t key;  // its lower half
    uint32_t number;
  };

  static uint64_t Bits(uint64_t key) {
    return uint64_t{1} << (key & 63) | uint64_t{1} << (key >> 6 & 63) |
           uint64_t{1} << (key >> 12 & 63);
  }

  HugeArray<uint64_t> filter_;
  int filter_shift_ = 63;
  HugeArray<uint32_t> starts_;  // the first entry by a key's upper bits, and the end
  int start_shift_ = 63;        // leaves the bits that index starts_
  HugeArray<Entry> entries_;
  bool is_counted_ = false;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_HASH_INDEX_H_
