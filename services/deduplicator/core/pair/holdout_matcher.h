#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_HOLDOUT_MATCHER_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_HOLDOUT_MATCHER_H_

#include <google/protobuf/repeated_field.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernelmill/v1/dataset.pb.h"

namespace kernelmill::deduplicator {

// How many holdouts a kernel's record names: the gravest.
inline constexpr size_t kMaxMatches = 8;

// Finds what kernels have in common with those of holdouts: exactly, without MinHash, since a
// threshold as low as contamination's would put half of a job into one bucket, and since holdouts
// are few. Holds all of their shingles and runs. Not thread-safe.
class HoldoutMatcher {
 public:
  // Similarities below the threshold are not named.
  explicit HoldoutMatcher(double threshold) : threshold_(threshold) {}

  // INVALID_ARGUMENT: a malformed set.
  absl::Status Add(uint32_t number, const v1::KernelShingles& kernel);

  // Appends what the kernel is like: as similar as the threshold, or with a run of 13 tokens in
  // common; the kMaxMatches gravest, in order of the holdouts. INVALID_ARGUMENT: a malformed set.
  absl::Status Match(uint32_t number, const v1::KernelShingles& kernel,
                     google::protobuf::RepeatedPtrField<v1::HoldoutMatch>* matches);

 private:
  struct Holdout {
    uint32_t number;
    uint32_t shingles;
    uint32_t runs;
  };
  using Postings = absl::flat_hash_map<uint64_t, std::vector<uint32_t>>;  // of holdouts_

  void Count(const Postings& postings, absl::Span<const uint64_t> set,
             std::vector<uint32_t>* common);

  const double threshold_;
  std::vector<Holdout> holdouts_;  // ascending
  Postings by_shingle_;
  Postings by_run_;
  std::vector<uint32_t> shingles_common_;  // of each holdout with the kernel at hand
  std::vector<uint32_t> runs_common_;
  std::vector<uint32_t> touched_;  // those that have any
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_HOLDOUT_MATCHER_H_
