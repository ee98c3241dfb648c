#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_CONTAMINATION_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_CONTAMINATION_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::deduplicator {

// What a job's kernels have in common with those of its holdouts. A kernel and a holdout's match by
// the first of these rules that holds:
//
//   exact     the same bytes, or the same normalized pair
//   near      Jaccard similarity over 5-token shingles at the policy's threshold
//   overlap   runs of 13 tokens in common; the score is the share of the holdout's that the kernel
//             has, so that a holdout within a larger kernel scores 1
//
// A match decides the kernel's fate where the rule is not overlap, or the score is at the policy's
// limit for it: the runs that all kernels of a kind have, such as offsets and masks, do not.
class Contaminations {
 public:
  // `holdout_exact[e]` is the first holdout kernel with the bytes e, `holdout_pair[p]` with the
  // pair p; kNoHoldout where there is none. `matches` is what the pair stage found.
  static constexpr uint32_t kNoHoldout = ~uint32_t{0};
  Contaminations(const v1::ContaminationPolicy& policy, std::vector<v1::HoldoutMatch> matches,
                 std::vector<uint32_t> holdout_exact, std::vector<uint32_t> holdout_pair);

  // Of one kernel: the gravest first, the decisive before the others; at most kMaxMatches.
  std::vector<v1::Contamination> Of(uint32_t number, uint32_t exact, uint32_t pair) const;

 private:
  absl::Span<const v1::HoldoutMatch> MatchesOf(uint32_t number) const;
  v1::Contamination Judge(const v1::HoldoutMatch& match) const;

  const v1::ContaminationPolicy policy_;
  std::vector<v1::HoldoutMatch> matches_;  // sorted by kernel
  const std::vector<uint32_t> holdout_exact_;
  const std::vector<uint32_t> holdout_pair_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_CONTAMINATION_H_
