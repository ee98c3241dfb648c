#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_RULES_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_RULES_H_

#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::validator {

// Fills in the verdict's rules: of each check how it ended and why, from the verdict's checks,
// quality and licence; of those that compilers answer from `compiled`, and nothing without it.
void ListRules(const v1::Kernel& kernel, v1::Verdict* verdict);

// Fills in `score` and `tier` of the verdict's quality from the rest of the verdict, its rules and
// kind too. The score is a mean of evidence, times what takes worth away.
//
// The mean is by weight over these parts, each between 0 and 1. What cannot be asked of the kernel
// is left out; an exempt check adds nothing either way.
//
//   3  launched: a function of the source launches it, or a call makes it a kernel (pallas_call)
//   3  documented: 0.4 for a docstring, or a comment right above it, of three words or more; 0.6
//      for comments and docstring, which count in full from 0.15 of the source on
//   2  tagged: its operation is known
//   2  the share of the curation guide's checks that it passes, of those that apply, docstring and
//      licence aside
//   2  the share of its loads and stores that are masked; of CUDA whether it compares what it
//      branches or loops on
//   2  its module is self-contained; not of Pallas, whose modules import JAX
//   2  it compiles (compile_checks.h)
//   1  the share of its parameters whose role is understood; not of Pallas, where all are
//   references 1  a person wrote it: neither generated nor minified
//
// times, of its lexical tokens: 0.7 / 64 for each below 64, then rising to 1 at 192; falling from
// 1 at 4096 to 0.7 at 12288 and beyond;
//
// times, of its kind: operation 1, example 0.8, helper and benchmark 0.7, generated 0.6, test 0.5,
// broken 0.2;
//
// times 0.5 where a syntax error lies inside; rounded to thousandths.
//
// Tier 1: 0.8 or more; 2: 0.5 or more; 3: less. So what has fewer than 64 tokens, and what no
// kernel is launched by, a helper, is of no tier 1.
void Score(const v1::Kernel& kernel, absl::string_view comment_above, v1::Verdict* verdict);

// Fills in whether the kernel is accepted, and if not which rules rejected it; validate.h lists
// them. The verdict is otherwise complete.
void Decide(const v1::Kernel& kernel, const v1::QualityPolicy& quality, v1::Verdict* verdict);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_RULES_H_
