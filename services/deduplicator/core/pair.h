#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/dataset.pb.h"
#include "services/deduplicator/core/bands.h"
#include "services/deduplicator/core/jaccard.h"

namespace kernelmill::deduplicator {

// INVALID_ARGUMENT unless the threshold is in (0, 1] and the partition is one of 1 to 65,536.
absl::Status CheckPairParams(const v1::PairParams& params);

// Finds the pairs of near-duplicates of one partition of the band buckets, in two passes over the
// signatures of a job, so that it holds no more than its own buckets and the shingles of the
// kernels that share one:
//
//   PairFinder finder(params);                        // CheckPairParams says OK
//   for (signature : all) RETURN_IF_ERROR(finder.Observe(signature));
//   finder.EndObserving();
//   for (signature : all) finder.Load(signature);     // runs that NeedsAny denies may be Skipped
//   absl::StatusOr<v1::PairSet> pairs = finder.Find();
//
// The union of the pairs over all partitions does not depend on how many there are. A pair whose
// kernels share buckets of several partitions is found in each of them. Not thread-safe.
class PairFinder {
 public:
  explicit PairFinder(const v1::PairParams& params);

  // First pass: the next kernel's signature. INVALID_ARGUMENT: it is malformed.
  absl::Status Observe(const v1::Signature& signature);
  void EndObserving();

  // Whether the second pass wants any of the `count` kernels from number `first`.
  bool NeedsAny(uint32_t first, uint32_t count) const;
  // Second pass: the next kernel's signature, or a run of kernels that is not needed.
  void Load(const v1::Signature& signature);
  void Skip(uint32_t count) { loaded_ += count; }

  // The verified pairs, sorted, each once. FAILED_PRECONDITION: the second pass was not the first
  // again.
  absl::StatusOr<v1::PairSet> Find();

  int64_t candidates() const { return candidates_; }        // pairs looked at
  int64_t large_buckets() const { return large_buckets_; }  // not compared all with all

 private:
  // A kernel in a bucket; after the first pass `kernel` is an index into needed_.
  struct Entry {
    uint64_t bucket;
    uint32_t kernel;
    friend bool operator<(const Entry& x, const Entry& y) {
      return x.bucket != y.bucket ? x.bucket < y.bucket : x.kernel < y.kernel;
    }
  };
  // Kernels whose shingle sets have the same hash: the first, and one of the others.
  struct Repeat {
    uint32_t first;
    uint32_t other;
  };

  // A verified pair, by indices into needed_.
  struct Found {
    uint32_t a;
    uint32_t b;
    Overlap overlap;
  };

  bool Mine(uint64_t key) const { return key % partitions_ == partition_; }
  void DropLoneEntries();
  uint32_t IndexOf(uint32_t number) const;
  absl::Span<const uint64_t> ShinglesOf(uint32_t index) const;
  void ListBuckets();
  template <typename Visit>
  void ForEachBucket(Visit visit) const;
  bool MayBeSimilar(uint32_t a, uint32_t b) const;
  bool ShareEarlierBucket(uint32_t a, uint32_t b, uint64_t bucket) const;
  void CompareAll(absl::Span<const Entry> bucket);
  void CompareInWindows(absl::Span<const Entry> bucket);
  void Verify(uint32_t a, uint32_t b);

  const double threshold_;
  const uint64_t partition_;
  const uint64_t partitions_;
  const Bands bands_;

  uint32_t observed_ = 0;
  uint32_t loaded_ = 0;
  absl::flat_hash_map<uint64_t, uint32_t> first_with_set_;  // by SetHash
  std::vector<Entry> entries_;
  std::vector<Repeat> repeats_;

  std::vector<uint32_t> needed_;    // numbers of kernels in buckets of two or more, or in repeats_
  std::vector<uint64_t> shingles_;  // theirs, one after another
  std::vector<size_t> shingle_ends_;   // one a needed kernel
  std::vector<uint32_t> minhash_;      // theirs, kPermutations each
  std::vector<uint64_t> buckets_;      // theirs but the large ones, ascending, one after another
  std::vector<size_t> bucket_starts_;  // one a needed kernel, and the end

  std::vector<Found> found_;
  absl::flat_hash_set<uint64_t> windows_done_;  // large buckets by a hash of their kernels
  int64_t candidates_ = 0;
  int64_t large_buckets_ = 0;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_H_
