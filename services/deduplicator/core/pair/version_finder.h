#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_VERSION_FINDER_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_VERSION_FINDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernelmill/v1/dataset.pb.h"
#include "services/deduplicator/core/pair/duplicate_finder.h"
#include "services/deduplicator/core/pair/shingle_sets.h"

namespace kernelmill::deduplicator {

// The similarity of 5-token shingles from which kernels of the same name and place are versions of
// each other.
inline constexpr double kVersionSimilarity = 0.5;

// A search for versions of one kernel: kernels of the same name, in files of the same name, in
// folders of the same name, such as an old copy of a library beside its current tree; and kernels
// that compute the same. The resolver
// checks that the two come from different trees. Used as DuplicateFinder is:
//
//   VersionFinder finder(partition, partitions, spill);
//   for (shard : all) finder.Observe(shard);   // or SkipShard
//   finder.EndObserving();
//   for (kernel : all, ascending)
//     if (finder.NeedsNext(number)) RETURN_IF_ERROR(finder.Load(shingles));
//   RETURN_IF_ERROR(finder.Find(&pairs));
//
// Not thread-safe.
class VersionFinder {
 public:
  VersionFinder(int partition, int partitions, const SpillOptions& spill);

  void Observe(const v1::SignatureShard& shard);
  void SkipShard(uint32_t kernels) { observed_ += kernels; }
  void EndObserving();

  bool NeedsAny(uint32_t first, uint32_t count) const;
  bool NeedsNext(uint32_t number) const;
  absl::Status Load(absl::Span<const uint64_t> shingles);

  // Appends the verified pairs, sorted, each once. Returns FAILED_PRECONDITION if sets are missing.
  absl::Status Find(Pairs* pairs);

 private:
  struct Entry {
    uint64_t key;  // a hash of name and place, or of what it computes
    uint64_t set;  // a hash of its shingles
    uint32_t number;
  };
  struct Proposal {
    uint32_t a;
    uint32_t b;
    bool operator==(const Proposal&) const = default;
  };

  const uint64_t partition_;
  const uint64_t partitions_;
  uint32_t observed_ = 0;
  std::vector<Entry> entries_;
  std::vector<Proposal> proposed_;  // sorted
  std::vector<uint32_t> needed_;    // ascending, each once
  ShingleSets sets_;                // the sets of needed_, in that order
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_VERSION_FINDER_H_
