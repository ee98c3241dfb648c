#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_RULES_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_RULES_H_

#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::validator {

// Fills in the verdict's rules: the outcome and reason of each check, from the verdict's checks,
// quality and licence. Checks that compilers answer come from `compiled`, and are left out without
// it.
void ListRules(const v1::Kernel& kernel, v1::Verdict* verdict);

// Fills in `score` and `tier` of the verdict's quality from the rest of the verdict, including its
// rules and kind. The score is a weighted mean of signs of worth, times factors that lower it.
//
// The parts of the mean, with their weights; each part is between 0 and 1. A part that does not
// apply to the kernel is left out, so that a language is not punished for having fewer signs.
//
//   3  launched: a function of the source launches it, or a call makes it a kernel (pallas_call)
//   3  documented: 0.4 for a docstring, or a comment right above it, of three words or more; 0.6
//      for comments and docstring, in full from a share of 0.15 of the source on
//   2  tagged: its operation is known
//   2  the share of the curation guide's checks that it passes, among those that apply, without
//      docstring and licence
//   2  the share of its loads and stores that are masked; for CUDA, whether it compares the values
//      that it branches or loops on
//   2  its module is self-contained; not for Pallas, whose modules import JAX
//   2  it compiles (CompilerRule)
//   1  the share of its parameters whose role is understood; not for Pallas, where all are
//      references
//   1  a person wrote it: neither generated nor minified
//
// times, for its lexical tokens: 0.7 / 64 for each below 64, then rising to 1 at 192; falling from
// 1 at 4096 to 0.7 at 12288 and beyond. Short kernels show little, and very long ones are hard to
// learn from;
//
// times, for its kind: operation 1, example 0.8, helper and benchmark 0.7, generated 0.6, test 0.5,
// broken 0.2;
//
// times 0.5 if a syntax error lies inside; rounded to thousandths.
//
// Tier 1: 0.8 or more; 2: 0.5 or more; 3: less. So a kernel with fewer than 64 tokens, and a helper
// that launches nothing, is never in tier 1.
void Score(const v1::Kernel& kernel, absl::string_view comment_above, v1::Verdict* verdict);

// Fills in whether the kernel is accepted, and if not, which rules rejected it (validate.h lists
// them). The rest of the verdict must be complete.
void Decide(const v1::Kernel& kernel, const v1::QualityPolicy& quality, v1::Verdict* verdict);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_RULES_H_
