#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_SET_JOIN_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_SET_JOIN_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace kernelmill::deduplicator {

// Finds, of some sets, all that are similar to another: every pair at or above the threshold,
// whatever the sets are. The .cc says how. Sets are of hashes, sorted, each once.
//
// Add() all sets that are looked for, then Build(), then Probe() with as many others as there are,
// which are not kept. In memory are the sets that were added, an entry for each of their hashes
// that may be looked up, and a count for each of their hashes or fewer. Not thread-safe.
class SetJoin {
 public:
  // `threshold`: of the Jaccard similarity, in (0, 1].
  explicit SetJoin(double threshold) : threshold_(threshold) {}

  // The next set; they are numbered from 0. At most 2^31 hashes in all.
  void Add(absl::Span<const uint64_t> set);
  void Build();

  // Calls found(i), once, for each set of those added that is similar to `set`; of those alone for
  // which wanted(i) holds, which is asked before two sets are compared.
  void Probe(absl::Span<const uint64_t> set, absl::FunctionRef<bool(uint32_t)> wanted,
             absl::FunctionRef<void(uint32_t)> found);

  size_t size() const { return ends_.size(); }
  // Of pairs that were compared.
  int64_t candidates() const { return candidates_; }

 private:
  struct Entry {
    uint64_t hash;
    uint32_t set;
  };
  // How rare a hash is among the sets, and the hash.
  using Rarity = std::pair<uint32_t, uint64_t>;

  absl::Span<const uint64_t> SetAt(uint32_t index) const;
  uint32_t CountOf(uint64_t hash) const { return counts_[hash & (counts_.size() - 1)]; }
  // Fills `prefix_` with the set's hashes that may be looked up, without those that no set has.
  void TakePrefix(absl::Span<const uint64_t> set);
  absl::Span<const Entry> EntriesNear(uint64_t hash) const;

  const double threshold_;
  std::vector<uint64_t> hashes_;  // of all sets
  std::vector<uint32_t> ends_;    // of each set in `hashes_`
  std::vector<uint32_t> counts_;  // by a hash's lower bits
  std::vector<Entry> entries_;    // sorted by hash
  std::vector<uint32_t> starts_;  // of the entries, by a hash's upper bits; and the end
  int start_shift_ = 0;
  std::vector<Rarity> prefix_;
  std::vector<uint32_t> seen_in_;  // of each set the last probe that met it
  uint32_t probes_ = 0;
  int64_t candidates_ = 0;
};

// The fewest hashes that a set of `size` has in common with any set that is as similar to it as
// the threshold; for an empty set 1, so that none is.
uint32_t LeastCommon(size_t size, double threshold);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_SET_JOIN_H_
