#ifndef KERNELMILL_COMMON_MANIFEST_RULE_OUTCOME_H_
#define KERNELMILL_COMMON_MANIFEST_RULE_OUTCOME_H_

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::manifest {

// What came of a check, by its name as of Checks ("compiles"): exempt too where the verdict does
// not list it, as of a job that does not ask.
inline v1::RuleResult::Outcome OutcomeOf(const v1::Verdict& verdict, absl::string_view rule) {
  for (const v1::RuleResult& result : verdict.rules()) {
    if (result.rule() == rule) return result.outcome();
  }
  return v1::RuleResult::OUTCOME_EXEMPT;
}

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_RULE_OUTCOME_H_
