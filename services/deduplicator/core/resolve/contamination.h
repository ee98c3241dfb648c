#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_CONTAMINATION_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_CONTAMINATION_H_

#include <vector>

#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::deduplicator {

// A table of what a job's kernels have in common with holdouts, which tells decisive matches from
// weak ones. A kernel's text matches a holdout's text by the first rule that applies:
//
// clang-format off
//   exact       the tokens are the same, except comments, docstring and layout
//   near        the Jaccard similarity over 5-token shingles reaches the policy's threshold
//   structural  that with local names, strings and numbers folded reaches the policy's limit for it
//   overlap     the share of the holdout's runs of 13 tokens that are in the text reaches the
//               policy's limit: a holdout inside a larger kernel scores 1
//   contained   the share of the text's runs that are in any holdout reaches that limit: a kernel
//               cut out of a holdout, or put together from several, scores 1. The match names the
//               holdout that has most of them
// clang-format on
//
// The first three rules compare the kernels themselves; modules and launchers match by the last
// two, and so do all texts with the files of a holdout, by their words. A match by a rule is
// decisive. Anything less, such as the offsets and masks that all kernels
// of a kind share, is weak and only counted. Not thread-safe while matches are added.
class Contaminations {
 public:
  explicit Contaminations(const v1::ContaminationPolicy& policy) : policy_(policy) {}

  // Adds what the pair stage found, in any order.
  void Add(v1::HoldoutMatch match) { matches_.push_back(std::move(match)); }
  void Add(v1::FurtherMatches further) { further_.push_back(std::move(further)); }
  // Ends the adding.
  void Build();

  // Sets the matches of one kernel's decision: the decisive ones, strongest first, at most
  // kMaxMatches, and the number of weak ones.
  void Describe(uint32_t number, v1::Decision* decision) const;

 private:
  const v1::ContaminationPolicy policy_;
  std::vector<v1::HoldoutMatch> matches_;  // sorted by kernel after Build()
  std::vector<v1::FurtherMatches> further_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_CONTAMINATION_H_
