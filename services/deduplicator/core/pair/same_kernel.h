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

// From this similarity on, kernels of one name are one, whatever operations each has.
inline constexpr double kSameByName = 0.8;
// From this one on, kernels of one file are one although they are named apart.
inline constexpr double kSameInOneFile = 0.95;

// Says of kernels that are alike whether they are one, by what they calculate with (operations.h)
// and what they are called. The first of these that holds:
//
//   equal sets of shingles                                            one
//   the same name, from kSameByName on                                one
//   the same name, or one has none: all operations of either are      one, else two
//   among the other's
//   other operations                                                  two
//   named apart in one file, below kSameInOneFile: who wrote both     two
//   meant two
//   else                                                              one
//
//   SameKernel same(spill);
//   for (shard : all) same.Observe(shard);
//   for (kernel : any, ascending) RETURN_IF_ERROR(same.Load(number, operations));
//   RETURN_IF_ERROR(same.Filter(SameKernel::Names::kCount, &pairs));  // of those kernels
//
// Not thread-safe.
class SameKernel {
 public:
  // Whether names count. Not where these are folded too: equal operations alone then make two
  // kernels one.
  enum class Names : uint8_t { kCount, kDoNotCount };

  explicit SameKernel(const SpillOptions& spill) : operations_(spill) {}

  // The next shard's kernels. A file lies within a shard.
  void Observe(const v1::SignatureShard& shard);
  // INVALID_ARGUMENT: the set is malformed.
  absl::Status Load(uint32_t number, absl::Span<const uint64_t> operations);
  // Leaves those pairs that are one kernel. FAILED_PRECONDITION: one was not loaded.
  absl::Status Filter(Names names, Pairs* pairs);

 private:
  absl::StatusOr<absl::Span<const uint64_t>> OperationsOf(uint32_t number,
                                                          std::vector<uint64_t>* buffer);
  absl::StatusOr<bool> IsOne(Names names, const v1::Pair& pair);

  std::vector<uint64_t> names_;  // of each kernel
  std::vector<uint64_t> files_;
  uint64_t shards_ = 0;
  std::vector<uint32_t> loaded_;  // ascending
  ShingleSets operations_;        // of loaded_, in that order
  std::vector<uint64_t> buffer_a_;
  std::vector<uint64_t> buffer_b_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_PAIR_SAME_KERNEL_H_
