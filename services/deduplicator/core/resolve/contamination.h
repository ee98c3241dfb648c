#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_CONTAMINATION_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_CONTAMINATION_H_

#include <vector>

#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::deduplicator {

// Judges what a job's kernels have in common with holdouts. A text of a kernel and one of a
// holdout's match by the first of these rules that holds:
//
//   exact       the same tokens: comments, docstring and layout aside
//   near        Jaccard similarity over 5-token shingles at the policy's threshold
//   structural  the same with local names, strings and numbers folded, at the policy's limit for it
//   overlap     the share of the holdout's runs of 13 tokens that the text has is at the policy's
//   limit: a
//               holdout within a larger kernel scores 1
//   contained   the share of the text's runs that any holdout has is: a kernel cut out of a
//   holdout, or put together
//               from several, scores 1. It goes by the holdout that has most of them
//
// The first three compare the kernels themselves; a module and a launcher match by the last two.
// Each of these is decisive; anything less, such as the offsets and masks that all kernels of a
// kind have, is weak: it is counted.
class Contaminations {
 public:
  explicit Contaminations(const v1::ContaminationPolicy& policy) : policy_(policy) {}

  // What the pair stage found; in any order.
  void Add(v1::HoldoutMatch match) { matches_.push_back(std::move(match)); }
  void Add(v1::FurtherMatches further) { further_.push_back(std::move(further)); }
  // After the last.
  void Build();

  // Sets of one kernel's decision what it matches decisively, the gravest first, at most
  // kMaxMatches, and how many weak matches there are.
  void Describe(uint32_t number, v1::Decision* decision) const;

 private:
  const v1::ContaminationPolicy policy_;
  std::vector<v1::HoldoutMatch> matches_;  // by kernel, once built
  std::vector<v1::FurtherMatches> further_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_CONTAMINATION_H_
