#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_SET_JOIN_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_SET_JOIN_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace kernelmill::deduplicator {

// An exact similarity search among sets: it finds every pair at or above the threshold. The .cc
// explains it. Sets are hashes, sorted, each once.
//
// Add() all sets to look for, then Build(), then Probe() with any number of other sets. Memory
// holds the added sets, an entry for each of their hashes that may be looked up, and up to one
// count per hash; the others are not kept. Not thread-safe.
class SetJoin {
 public:
  // `threshold`: of the Jaccard similarity, in (0, 1].
  explicit SetJoin(double threshold) : threshold_(threshold) {}

  // Adds the next set; sets are numbered from 0 and have at most 2^31 hashes together.
  void Add(absl::Span<const uint64_t> set);
  void Build();

  // Calls found(i) once for each added set that is similar to `set`, if wanted(i) is true. Calls
  // wanted(i) first, before it compares two sets.
  void Probe(absl::Span<const uint64_t> set, absl::FunctionRef<bool(uint32_t)> wanted,
             absl::FunctionRef<void(uint32_t)> found);

  size_t size() const { return ends_.size(); }
  // The number of compared pairs.
  int64_t candidates() const { return candidates_; }

 private:
  struct Entry {
    uint64_t hash;
    uint32_t set;
  };
  // The count of a hash among the added sets, and the hash.
  using Rarity = std::pair<uint32_t, uint64_t>;

  absl::Span<const uint64_t> SetAt(uint32_t index) const;
  uint32_t GetCount(uint64_t hash) const { return counts_[hash & (counts_.size() - 1)]; }
  // Fills `prefix_` with the set's prefix, without hashes that no added set has.
  void TakePrefix(absl::Span<const uint64_t> set);
  absl::Span<const Entry> EntriesNear(uint64_t hash) const;

  const double threshold_;
  std::vector<uint64_t> hashes_;  // the sets, one after the other
  std::vector<uint32_t> ends_;    // the end of each set in `hashes_`
  std::vector<uint32_t> counts_;  // by a hash's lower bits
  std::vector<Entry> entries_;    // sorted by hash
  std::vector<uint32_t> starts_;  // the first entry by a hash's upper bits, and the end
  int start_shift_ = 0;           // leaves the upper bits that index starts_
  std::vector<Rarity> prefix_;
  std::vector<uint32_t> seen_in_;  // for each set the last probe that met it
  uint32_t probes_ = 0;
  int64_t candidates_ = 0;
};

// Returns the fewest hashes that a set of `size` shares with any set that reaches the threshold;
// for an empty set 1, so that it is similar to nothing.
uint32_t LeastCommon(size_t size, double threshold);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_SET_JOIN_H_
