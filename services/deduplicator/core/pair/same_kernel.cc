// The basic idea: similarity finds candidates, but the question is if an author would call two
// kernels the same. Operations and names answer it. Names are compared by hash; a hash of 0 means
// that a kernel has no name of its own.

#include "services/deduplicator/core/pair/same_kernel.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "services/deduplicator/core/sign/jaccard.h"
#include "services/deduplicator/core/sign/sign.h"

namespace kernelmill::deduplicator {

void SameKernel::Observe(const v1::SignatureShard& shard) {
  for (int i = 0; i < KernelsIn(shard); ++i) {
    names_.push_back(shard.names(i));
    computations_.push_back(shard.computations(i));
    files_.push_back(StableHash64(shard.paths(i), shards_));
  }
  ++shards_;
}

// Call it in ascending order of numbers, since GetOperations searches by halves.
absl::Status SameKernel::Load(uint32_t number, absl::Span<const uint64_t> operations) {
  RETURN_IF_ERROR(CheckSet(operations));
  loaded_.push_back(number);
  return operations_.Add(operations);
}

absl::StatusOr<absl::Span<const uint64_t>> SameKernel::GetOperations(
    uint32_t number, std::vector<uint64_t>* buffer) {
  const auto found = std::lower_bound(loaded_.begin(), loaded_.end(), number);
  if (found == loaded_.end() || *found != number) {
    return absl::FailedPreconditionError(
        absl::StrCat("the operations of kernel ", number, " were not loaded"));
  }
  return operations_.Get(found - loaded_.begin(), buffer);
}

// Applies the rules of the class comment, in their order.
absl::StatusOr<bool> SameKernel::IsOne(Names names, const v1::Pair& pair) {
  if (pair.common() == pair.total()) return true;
  const size_t last = std::max(pair.a(), pair.b());
  if (last >= computations_.size()) {
    return absl::FailedPreconditionError(absl::StrCat("kernel ", last, " was not added"));
  }
  const uint64_t computation = computations_[pair.a()];
  const bool is_known = computation != 0 && computations_[pair.b()] != 0;
  if (is_known && computation != computations_[pair.b()]) return false;
  ASSIGN_OR_RETURN(const auto a, GetOperations(pair.a(), &buffer_a_));
  ASSIGN_OR_RETURN(const auto b, GetOperations(pair.b(), &buffer_b_));
  // Operations are sorted sets: inclusion is one merge.
  const bool a_has_all = std::includes(a.begin(), a.end(), b.begin(), b.end());
  const bool b_has_all = std::includes(b.begin(), b.end(), a.begin(), a.end());
  if (names == Names::kDoNotCount) return a_has_all && b_has_all;
  const uint64_t name_a = names_[pair.a()];
  const uint64_t name_b = names_[pair.b()];
  const double similarity = Similarity({pair.common(), pair.total()});
  if (is_known && (name_a == name_b || name_a == 0 || name_b == 0)) return true;
  if (name_a == name_b || name_a == 0 || name_b == 0) {
    const bool is_named = name_a == name_b && name_a != 0;
    return a_has_all || b_has_all || (is_named && similarity >= kSameByName);
  }
  if (!is_known && (!a_has_all || !b_has_all)) return false;
  return files_[pair.a()] != files_[pair.b()] || similarity >= kSameInOneFile;
}

// Keeps the pairs of kernels that an author would call the same, in their order.
absl::Status SameKernel::Filter(Names names, Pairs* pairs) {
  int kept = 0;
  for (int i = 0; i < pairs->size(); ++i) {
    ASSIGN_OR_RETURN(const bool is_one, IsOne(names, pairs->Get(i)));
    if (!is_one) continue;
    pairs->SwapElements(kept++, i);
  }
  pairs->DeleteSubrange(kept, pairs->size() - kept);
  return absl::OkStatus();
}

}  // namespace kernelmill::deduplicator
