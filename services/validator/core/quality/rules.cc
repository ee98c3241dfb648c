#include "services/validator/core/quality/rules.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/match.h"
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

constexpr int kSeedWeight = 4, kMaskWeight = 2, kModuleWeight = 2;
constexpr double kCommented = 0.05, kTier1 = 0.8, kTier2 = 0.5;

class Mean {
 public:
  void Add(int weight, double part) {
    sum_ += weight * part;
    weights_ += weight;
  }
  void AddShare(int weight, int64_t of, int64_t all) {
    if (all > 0) Add(weight, static_cast<double>(of) / static_cast<double>(all));
  }
  double Rounded() const {
    return weights_ == 0
               ? 0
               : static_cast<double>(static_cast<int64_t>(1000 * sum_ / weights_ + 0.5)) / 1000;
  }

 private:
  double sum_ = 0;
  int weights_ = 0;
};

bool Asked(const v1::Verdict& verdict, absl::string_view rule) {
  return std::any_of(
      verdict.rules().begin(), verdict.rules().end(), [rule](const v1::RuleResult& result) {
        return result.rule() == rule && result.outcome() != v1::RuleResult::OUTCOME_EXEMPT;
      });
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

void Score(v1::Verdict* verdict) {
  const v1::Checks& checks = verdict->checks();
  v1::Quality& quality = *verdict->mutable_quality();
  int64_t passed = 0;
  int64_t asked = 0;
  for (const v1::RuleResult& result : verdict->rules()) {
    if (!absl::StartsWith(result.rule(), "has_") ||
        result.outcome() == v1::RuleResult::OUTCOME_EXEMPT)
      continue;
    ++asked;
    if (result.outcome() == v1::RuleResult::OUTCOME_PASS) ++passed;
  }
  const v1::MaskCoverage& masks = quality.masks();
  Mean mean;
  mean.AddShare(kSeedWeight, passed, asked);
  mean.AddShare(kMaskWeight, masks.masked_loads() + masks.masked_stores(),
                masks.loads() + masks.stores());
  if (Asked(*verdict, "self_contained")) mean.Add(kModuleWeight, checks.self_contained() ? 1 : 0);
  mean.Add(1, checks.has_docstring() || quality.comment_ratio() >= kCommented ? 1 : 0);
  mean.Add(1, checks.parses() ? 1 : 0);
  mean.Add(1, checks.handwritten() && checks.readable() ? 1 : 0);
  quality.set_score(mean.Rounded());
  quality.set_tier(quality.score() >= kTier1 ? 1 : quality.score() >= kTier2 ? 2 : 3);
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
