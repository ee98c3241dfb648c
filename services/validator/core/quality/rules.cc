#include "services/validator/core/quality/rules.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/text.h"
#include "services/validator/core/quality/checks.h"

namespace kernelmill::validator {
namespace {

constexpr int kNamesInReason = 5;
constexpr char kEmail[] = "email";

std::string FreeNames(const v1::Kernel& kernel) {
  const auto& names = kernel.free_names();
  const auto end = names.size() > kNamesInReason ? names.begin() + kNamesInReason : names.end();
  const absl::string_view more = names.size() > kNamesInReason ? ", ..." : "";
  return ToUtf8(absl::StrCat("not in the module: ", absl::StrJoin(names.begin(), end, ", "), more));
}

// Why the check failed.
std::string FailureOf(absl::string_view check, const v1::Kernel& kernel,
                      const v1::Verdict& verdict) {
  const v1::Quality& quality = verdict.quality();
  if (check == "has_triton_jit") return "no jit decorator, call or wrapper";
  if (check == "has_bounds_masking") return "no mask, boundary_check, where or descriptor";
  if (check == "has_program_id") return "no program_id";
  if (check == "has_block_size") return "no name of a block's size";
  if (check == "has_load_store") return "no load or store";
  if (check == "has_docstring") return "no docstring";
  if (check == "license_permissive")
    return absl::StrCat("the policy does not allow ", verdict.license().expression());
  if (check == "parses") return "a syntax error lies inside";
  if (check == "handwritten") return absl::StrCat("its file says: ", quality.generated());
  if (check == "readable") {
    return absl::StrCat("its longest line has ", quality.longest_line(), " bytes, its mean line ",
                        quality.mean_line());
  }
  return FreeNames(kernel);
}

void AddSensitive(const v1::Quality& quality, const v1::QualityPolicy& policy,
                  std::set<std::string>* reasons) {
  for (const v1::Sensitive& finding : quality.sensitive()) {
    const bool email = finding.kind() == kEmail;
    if ((email ? policy.emails() : policy.secrets()) == v1::SENSITIVE_POLICY_REJECT) {
      reasons->insert(absl::StrCat("sensitive:", finding.kind()));
    }
  }
}

}  // namespace

void ListRules(const v1::Kernel& kernel, v1::Verdict* verdict) {
  for (const std::string& check : CheckNames()) {
    v1::RuleResult& result = *verdict->add_rules();
    result.set_rule(check);
    const absl::string_view exemption = Exemption(check, kernel);
    if (!exemption.empty()) {
      result.set_outcome(v1::RuleResult::OUTCOME_EXEMPT);
      result.set_reason(std::string(exemption));
    } else if (Passes(verdict->checks(), check)) {
      result.set_outcome(v1::RuleResult::OUTCOME_PASS);
    } else {
      result.set_outcome(v1::RuleResult::OUTCOME_FAIL);
      result.set_reason(FailureOf(check, kernel, *verdict));
    }
  }
}

void Decide(const v1::Kernel& kernel, const v1::QualityPolicy& quality, v1::Verdict* verdict) {
  std::set<std::string> reasons;
  if (!verdict->checks().license_permissive()) {
    reasons.insert(absl::StrCat("license:", verdict->license().expression()));
  }
  if (kernel.form() == v1::KERNEL_FORM_TEMPLATE) reasons.insert("template");
  for (const v1::RuleResult& result : verdict->rules()) {
    const bool required = std::find(quality.require().begin(), quality.require().end(),
                                    result.rule()) != quality.require().end();
    if (required && result.outcome() == v1::RuleResult::OUTCOME_FAIL) {
      reasons.insert(absl::StrCat("quality:", result.rule()));
    }
  }
  if (verdict->quality().score() < quality.min_score()) reasons.insert("quality:min_score");
  AddSensitive(verdict->quality(), quality, &reasons);
  verdict->clear_reasons();
  for (const std::string& reason : reasons) verdict->add_reasons(reason);
  verdict->set_accepted(reasons.empty());
}

}  // namespace kernelmill::validator
