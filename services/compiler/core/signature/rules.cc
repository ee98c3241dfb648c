#include "services/compiler/core/signature/rules.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "common/python/usage/usage_rules.h"

namespace kernelmill::compiler {

// The rules that are not of the usage of a parameter, each with how sure it is. The certainty
// decides what a failure of the compiler means (failures.h): if the message alone does not decide,
// an error is the kernel's only if nothing of the signature was guessed. It also decides which
// values equations and multiples may correct (constexpr_values.cc).

using python::FindUsageRule;
using python::UsageRuleInfo;

namespace {

struct Rule {
  absl::string_view name;
  Certainty certainty;
};

// All rules but "usage:..."; the names that end in ':' are followed by a fragment or a role.
constexpr Rule kRules[] = {
    {"inductor", Certainty::kRead},
    {"annotation", Certainty::kRead},
    {"launch:none", Certainty::kRead},
    {"autotune", Certainty::kRead},
    {"heuristics", Certainty::kRead},
    {"launch", Certainty::kRead},
    {"launch:type", Certainty::kTold},
    {"launch:present", Certainty::kTold},
    {"default", Certainty::kTold},
    {"unit_stride", Certainty::kTold},
    {"launch:dtype", Certainty::kGuessed},
    {"launch:likely", Certainty::kGuessed},
    {"descriptor", Certainty::kGuessed},
    {"heuristics:small", Certainty::kGuessed},
    {"heuristics:flag", Certainty::kGuessed},
    {"guess:float", Certainty::kGuessed},
    {"guess:int", Certainty::kGuessed},
    {"guess:second", Certainty::kGuessed},
    {"guess:small", Certainty::kGuessed},
    {"name:", Certainty::kGuessed},
    {"role:", Certainty::kGuessed},
};

// Null if no rule has the name.
const Rule* FindRule(absl::string_view name) {
  const auto* found = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& rule) {
    const bool prefix = absl::EndsWith(rule.name, ":");
    return prefix ? absl::StartsWith(name, rule.name) : name == rule.name;
  });
  return found == std::end(kRules) ? nullptr : found;
}

// Null if the compiler does not infer by it.
const UsageRuleInfo* FindInferring(absl::string_view name) {
  const UsageRuleInfo* usage = FindUsageRule(name);
  return usage == nullptr || absl::string_view(usage->inferred).empty() ? nullptr : usage;
}

}  // namespace

Certainty GetCertainty(absl::string_view rule) {
  if (const UsageRuleInfo* usage = FindInferring(rule))
    return usage->told ? Certainty::kTold : Certainty::kGuessed;
  const Rule* found = FindRule(rule);
  return found == nullptr ? Certainty::kGuessed : found->certainty;
}

bool MayDiffer(absl::string_view rule) {
  return GetCertainty(rule) == Certainty::kGuessed || rule == "default" || rule == "heuristics" ||
         rule == "launch:none" || rule == "launch:present";
}

bool IsKnownRule(absl::string_view rule) {
  return FindInferring(rule) != nullptr || FindRule(rule) != nullptr;
}

bool HasSmallSizes(const v1::KernelSignature& signature) {
  return std::any_of(
      signature.constexprs().begin(), signature.constexprs().end(),
      [](const v1::ConstexprValue& value) { return absl::EndsWith(value.rule(), ":small"); });
}

}  // namespace kernelmill::compiler
