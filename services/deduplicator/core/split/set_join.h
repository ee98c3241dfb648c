#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_SET_JOIN_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_SET_JOIN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "services/deduplicator/core/pair/shingle_sets.h"
#include "services/deduplicator/core/split/hash_index.h"
#include "services/deduplicator/core/split/minhash_index.h"

namespace kernelmill::deduplicator {

// A similarity search among sets: it finds the pairs at or above the threshold. It misses none that
// share a rare hash, and of others one in two million. The .cc explains it. Sets are hashes,
// sorted, each once.
//
// Add() all sets to look for, then Build(), then Probe() with any number of other sets. Memory
// holds an entry for each hash of the added sets that may be looked up, two bits for each hash, the
// MinHashes of sets with common hashes, and as many sets as the spill options allow; the other sets
// are not kept. Errors are those of the spill file. Not thread-safe.
class SetJoin {
 public:
  // `threshold`: of the Jaccard similarity, in (0, 1].
  explicit SetJoin(double threshold, const SpillOptions& spill = {})
      : threshold_(threshold), sets_(spill), common_(threshold) {}

  // Adds the next set; sets are numbered from 0 and have at most 2^31 hashes together.
  absl::Status Add(absl::Span<const uint64_t> set);
  absl::Status Build();

  // Calls found(i) once for each added set that is similar to `set`, if wanted(i) is true. Calls
  // wanted(i) first, before it compares two sets.
  absl::Status Probe(absl::Span<const uint64_t> set, absl::FunctionRef<bool(uint32_t)> wanted,
                     absl::FunctionRef<void(uint32_t)> found);

  size_t size() const { return sets_.size(); }
  // The number of compared pairs.
  int64_t candidates() const { return candidates_; }

 private:
  // An added set, as far as a probe needs it.
  struct Added {
    uint32_t size;
    uint32_t rest;     // the number of hashes behind its prefix
    uint32_t met = 0;  // the number of hashes that its prefix shares with that of the probe
  };
  // A set's prefix, except its hashes: `prefix_` has those that an added set has and that are not
  // common.
  struct Prefix {
    uint32_t rest = 0;  // the number of hashes behind it
    bool has_common = false;
  };
  static constexpr uint8_t kCommon = 3;  // hashes that so many added sets have are common
  static constexpr size_t kCountsPerWord = 32;

  // Returns how many added sets have the hash, or some more; kCommon for more.
  uint32_t GetCount(uint64_t hash) const {
    const uint64_t cell = hash & cell_mask_;
    return counts_[cell / kCountsPerWord] >> (cell % kCountsPerWord * 2) & 3;
  }
  absl::Status CountHashes();
  Prefix TakePrefix(absl::Span<const uint64_t> set);
  bool MayReach(const Added& added, size_t size, uint32_t rest) const;
  void MeetIn(const HashIndex& index);
  void MeetByRare(absl::Span<const uint64_t> set, const Prefix& prefix);

  const double threshold_;
  ShingleSets sets_;
  std::vector<Added> added_;
  size_t hashes_ = 0;           // the number of all sets' hashes
  HugeArray<uint64_t> counts_;  // two bits each, by a hash's lower bits
  uint64_t cell_mask_ = 0;
  // The added sets by the hashes of their prefixes: those whose prefix has no common hash, and the
  // others.
  HashIndex rare_;
  HashIndex mixed_;
  MinHashIndex common_;  // the sets whose prefix has a common hash
  std::array<std::vector<uint64_t>, kCommon + 1> by_count_;  // the hashes of a set
  std::vector<uint64_t> prefix_;                             // as keys
  std::vector<uint64_t> keys_;  // those of prefix_ that may have an entry
  std::vector<uint32_t> met_;   // the sets that may be similar to the probe
  std::vector<uint64_t> buffer_;
  int64_t candidates_ = 0;
};

// Returns the fewest hashes that a set of `size` shares with any set that reaches the threshold;
// for an empty set 1, so that it is similar to nothing.
uint32_t LeastCommon(size_t size, double threshold);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_SPLIT_SET_JOIN_H_
