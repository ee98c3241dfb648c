#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_RULES_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_RULES_H_

#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::validator {

// Fills in the verdict's rules: of each check how it ended and why, from the verdict's checks,
// quality and licence.
void ListRules(const v1::Kernel& kernel, v1::Verdict* verdict);

// Fills in whether the kernel is accepted, and if not which rules rejected it; validate.h lists
// them. The verdict is otherwise complete.
void Decide(const v1::Kernel& kernel, const v1::QualityPolicy& quality, v1::Verdict* verdict);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_RULES_H_
