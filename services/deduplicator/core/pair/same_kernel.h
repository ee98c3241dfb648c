#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_SAME_KERNEL_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_SAME_KERNEL_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernelmill/v1/dataset.pb.h"
#include "services/deduplicator/core/pair/duplicate_finder.h"
#include "services/deduplicator/core/pair/shingle_sets.h"

namespace kernelmill::deduplicator {

// The similarity from which kernels of one name are the same kernel, whatever their operations.
inline constexpr double kSameByName = 0.8;
// The similarity from which kernels of one file are the same kernel despite different names.
inline constexpr double kSameInOneFile = 0.95;

// A filter that decides whether two similar kernels are the same kernel, by what they compute
// (computation.h) and their names. Two softmaxes with and without a mask are similar, but not the
// same. If it is not known what one of them computes, their operations (operations.h) decide.
// The first rule that applies decides:
//
// clang-format off
//   equal sets of shingles                                               same
//   known computations that differ                                       not the same
//   known computations that are equal: see the last two rules
//   equal names, similarity at least kSameByName                         same
//   equal names or a missing name, and the operations of one include     same
//     those of the other
//   different operations                                                 not the same
//   different names in one file, similarity below kSameInOneFile:        not the same
//     the author told them apart
//   otherwise                                                            same
// clang-format on
//
//   SameKernel same(spill);
//   for (shard : all) same.Observe(shard);
//   for (kernel : any, ascending) RETURN_IF_ERROR(same.Load(number, operations));
//   RETURN_IF_ERROR(same.Filter(SameKernel::Names::kCount, &pairs));  // pairs of loaded kernels
//
// Not thread-safe.
class SameKernel {
 public:
  // Says if names count. They do not for structural pairs, whose names are folded: equal operations
  // alone then make two kernels the same.
  enum class Names : uint8_t { kCount, kDoNotCount };

  explicit SameKernel(const SpillOptions& spill) : operations_(spill) {}

  // Takes the names of the next shard's kernels. All kernels of a file are in one shard.
  void Observe(const v1::SignatureShard& shard);
  // Returns INVALID_ARGUMENT if the set is malformed.
  absl::Status Load(uint32_t number, absl::Span<const uint64_t> operations);
  // Removes the pairs that are not the same kernel. Returns FAILED_PRECONDITION if a kernel of a
  // pair was not loaded.
  absl::Status Filter(Names names, Pairs* pairs);

 private:
  absl::StatusOr<absl::Span<const uint64_t>> GetOperations(uint32_t number,
                                                           std::vector<uint64_t>* buffer);
  absl::StatusOr<bool> IsOne(Names names, const v1::Pair& pair);

  std::vector<uint64_t> names_;         // a hash of each kernel's name, 0 for none
  std::vector<uint64_t> computations_;  // a hash of what each kernel computes, 0 if it is unknown
  std::vector<uint64_t> files_;         // a hash of each kernel's shard and path
  uint64_t shards_ = 0;
  std::vector<uint32_t> loaded_;  // ascending
  ShingleSets operations_;        // the operations of loaded_, in that order
  std::vector<uint64_t> buffer_a_;
  std::vector<uint64_t> buffer_b_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_SAME_KERNEL_H_
