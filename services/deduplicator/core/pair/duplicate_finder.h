#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_DUPLICATE_FINDER_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_DUPLICATE_FINDER_H_

#include <google/protobuf/repeated_field.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/dataset.pb.h"
#include "services/deduplicator/core/pair/shingle_sets.h"
#include "services/deduplicator/core/sign/jaccard.h"
#include "services/deduplicator/core/sign/minhash.h"

namespace kernelmill::deduplicator {

using Pairs = google::protobuf::RepeatedPtrField<v1::Pair>;

// Returns INVALID_ARGUMENT unless the thresholds are in (0, 1], and `partition` is one of 1 to
// 65,536 partitions.
absl::Status CheckPairParams(const v1::PairParams& params);

// A search for the pairs of similar sets of one partition of the bands; the .cc explains it. It
// takes two passes over the job. The second reads only sets that have a candidate:
//
//   DuplicateFinder finder(threshold, partition, partitions, spill);
//   for (shard : all) finder.Observe(shard.near());   // or SkipShard, for a shard left out
//   finder.EndObserving();
//   for (shingles : those of needed()) RETURN_IF_ERROR(finder.Load(shingles));
//   RETURN_IF_ERROR(finder.Find(&pairs));
//
// It holds about two hundred bytes per kernel, the buckets of its partition, and as many sets as
// the spill options allow. The union of the pairs over all partitions does not depend on the number
// of partitions. If two kernels share buckets of several partitions, each of them finds the pair.
// Not thread-safe.
class DuplicateFinder {
 public:
  DuplicateFinder(double threshold, int partition, int partitions, const SpillOptions& spill = {});

  // First pass. Takes the next shard's summaries, whose columns must have the same length.
  void Observe(const v1::TokenSets& shard);
  void SkipShard(uint32_t kernels) { observed_ += kernels; }
  void EndObserving();

  // The kernels whose sets the second pass needs; ascending, each once.
  absl::Span<const uint32_t> needed() const { return needed_; }
  // Returns true if any of the `count` kernels from number `first` is needed.
  bool NeedsAny(uint32_t first, uint32_t count) const;
  // Returns true if Load() takes that kernel's set next.
  bool NeedsNext(uint32_t number) const;
  // Second pass. Takes the set of the next needed kernel. Returns INVALID_ARGUMENT if it is not
  // sorted, each shingle once.
  absl::Status Load(absl::Span<const uint64_t> shingles);

  // Appends the verified pairs, sorted, each once. Returns FAILED_PRECONDITION if sets are missing.
  absl::Status Find(Pairs* pairs);

  int64_t candidates() const { return candidates_; }        // pairs of bucket mates looked at
  int64_t large_buckets() const { return large_buckets_; }  // not compared all with all
  size_t spilled() const { return sets_.spilled(); }        // sets that did not fit in memory

 private:
  // A kernel in a bucket, by its slot: its place among the first kernels of each set.
  struct Entry {
    uint64_t bucket;
    uint32_t slot;
  };
  struct Proposal {
    uint32_t a;
    uint32_t b;
    uint64_t key() const { return (uint64_t{a} << 32) | b; }
  };

  bool IsInPartition(int band, uint64_t key) const;
  void AddToBuckets(uint32_t slot, const MinHashValues& values);
  void MakeGroups();
  void CompareInGroups();
  void CompareInWindows();
  void CompareWithFirst(absl::Span<const uint32_t> group);
  void CompareWithNearest(absl::Span<const uint32_t> group);
  absl::Span<const uint32_t> Group(uint32_t group) const;
  bool Propose(uint32_t a, uint32_t b);
  bool MayBeSimilar(uint32_t a, uint32_t b) const;
  void ListNeeded();
  uint32_t IndexOf(uint32_t number) const;
  absl::Status Verify(Pairs* pairs);

  const double threshold_;
  const int partition_;
  const int partitions_;
  const Bands bands_;
  const int least_agreeing_;
  ShingleSets sets_;  // the sets of needed_, in that order

  uint32_t observed_ = 0;
  absl::flat_hash_map<uint64_t, uint32_t> first_with_set_;  // by SetHash, its slot
  std::vector<uint32_t> numbers_;                           // of each slot's kernel
  std::vector<uint32_t> set_sizes_;
  std::vector<Sketch> sketches_;
  std::vector<Entry> entries_;

  // Buckets of two or more slots, numbered, and the slots of each one after another, ascending.
  std::vector<uint32_t> group_starts_;  // one a group, and the end
  std::vector<uint32_t> members_;

  std::vector<v1::Pair> equal_;     // kernels with equal sets
  std::vector<Proposal> proposed_;  // slots to be verified; then numbers
  std::vector<uint32_t> needed_;
  int64_t candidates_ = 0;
  int64_t large_buckets_ = 0;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_DUPLICATE_FINDER_H_
