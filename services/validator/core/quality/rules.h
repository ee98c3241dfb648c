#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_RULES_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_RULES_H_

#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::validator {

// Fills in the verdict's rules: of each check how it ended and why, from the verdict's checks,
// quality and licence.
void ListRules(const v1::Kernel& kernel, v1::Verdict* verdict);

// Fills in `score` and `tier` of the verdict's quality from the rest of the verdict, its rules too.
// The score is the mean of these parts, each between 0 and 1, by weight; parts that do not apply to
// the kernel are left out:
//
//   4  the share of the curation guide's checks that it passes, of those that apply, the licence
//      aside
//   2  the share of its loads and stores that are masked
//   2  its module is self-contained
//   1  it has a docstring, or a twentieth of it is comment
//   1  it parses
//   1  a person wrote it: neither generated nor minified
//
// rounded to thousandths. Tier 1: 0.8 or more; 2: 0.5 or more; 3: less.
void Score(v1::Verdict* verdict);

// Fills in whether the kernel is accepted, and if not which rules rejected it; validate.h lists
// them. The verdict is otherwise complete.
void Decide(const v1::Kernel& kernel, const v1::QualityPolicy& quality, v1::Verdict* verdict);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_RULES_H_
