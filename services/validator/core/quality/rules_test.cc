#include "services/validator/core/quality/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelmill::validator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

v1::Kernel KernelWith(v1::KernelRole role) {
  v1::Kernel kernel;
  kernel.set_dsl(v1::DSL_TRITON);
  kernel.set_role(role);
  return kernel;
}

// One that passes everything.
v1::Verdict Good() {
  v1::Verdict verdict;
  verdict.mutable_license()->set_expression("MIT");
  v1::Checks& checks = *verdict.mutable_checks();
  checks.set_has_triton_jit(true);
  checks.set_has_bounds_masking(true);
  checks.set_has_program_id(true);
  checks.set_has_block_size(true);
  checks.set_has_load_store(true);
  checks.set_has_docstring(true);
  checks.set_license_permissive(true);
  checks.set_parses(true);
  checks.set_handwritten(true);
  checks.set_readable(true);
  checks.set_self_contained(true);
  return verdict;
}

const v1::RuleResult& Rule(const v1::Verdict& verdict, const std::string& name) {
  for (const v1::RuleResult& result : verdict.rules()) {
    if (result.rule() == name) return result;
  }
  ADD_FAILURE() << name << " is not listed";
  static const v1::RuleResult none;
  return none;
}

TEST(Rules, EveryCheckIsListedOnceWithItsReason) {
  v1::Verdict verdict = Good();
  verdict.mutable_checks()->set_has_docstring(false);
  verdict.mutable_checks()->set_self_contained(false);
  verdict.mutable_checks()->set_license_permissive(false);
  verdict.mutable_license()->set_expression("GPL-3.0-only");
  v1::Kernel kernel = KernelWith(v1::KERNEL_ROLE_DEVICE);
  kernel.add_free_names("helper");
  ListRules(kernel, &verdict);
  EXPECT_EQ(verdict.rules_size(), 11);
  EXPECT_EQ(Rule(verdict, "has_triton_jit").outcome(), v1::RuleResult::OUTCOME_PASS);
  EXPECT_EQ(Rule(verdict, "has_docstring").outcome(), v1::RuleResult::OUTCOME_FAIL);
  EXPECT_EQ(Rule(verdict, "has_docstring").reason(), "no docstring");
  EXPECT_EQ(Rule(verdict, "has_program_id").outcome(), v1::RuleResult::OUTCOME_EXEMPT);
  EXPECT_EQ(Rule(verdict, "has_program_id").reason(), "device function");
  EXPECT_EQ(Rule(verdict, "self_contained").reason(), "not in the module: helper");
  EXPECT_EQ(Rule(verdict, "license_permissive").reason(), "the policy does not allow GPL-3.0-only");
}

TEST(Rules, PoliciesDecideOverSensitiveText) {
  v1::Verdict verdict = Good();
  verdict.mutable_quality()->add_sensitive()->set_kind("email");
  verdict.mutable_quality()->add_sensitive()->set_kind("jwt");
  v1::QualityPolicy policy;
  policy.set_secrets(v1::SENSITIVE_POLICY_LABEL);
  policy.set_emails(v1::SENSITIVE_POLICY_REDACT);
  Decide(v1::Kernel(), policy, &verdict);
  EXPECT_TRUE(verdict.accepted());
  policy.set_secrets(v1::SENSITIVE_POLICY_REJECT);
  Decide(v1::Kernel(), policy, &verdict);
  EXPECT_THAT(verdict.reasons(), ElementsAre("sensitive:jwt"));
  EXPECT_FALSE(verdict.accepted());
  policy.set_emails(v1::SENSITIVE_POLICY_REJECT);
  Decide(v1::Kernel(), policy, &verdict);
  EXPECT_THAT(verdict.reasons(), ElementsAre("sensitive:email", "sensitive:jwt"));
}

TEST(Rules, AnExemptCheckRejectsNothing) {
  v1::Verdict verdict = Good();
  verdict.mutable_checks()->set_has_program_id(false);
  v1::QualityPolicy policy;
  policy.add_require("has_program_id");
  ListRules(KernelWith(v1::KERNEL_ROLE_DEVICE), &verdict);
  Decide(v1::Kernel(), policy, &verdict);
  EXPECT_THAT(verdict.reasons(), IsEmpty());
  verdict.clear_rules();
  ListRules(KernelWith(v1::KERNEL_ROLE_KERNEL), &verdict);
  Decide(v1::Kernel(), policy, &verdict);
  EXPECT_THAT(verdict.reasons(), ElementsAre("quality:has_program_id"));
}

TEST(Score, IsTheMeanOfItsParts) {
  v1::Verdict verdict = Good();
  ListRules(KernelWith(v1::KERNEL_ROLE_KERNEL), &verdict);
  Score(&verdict);
  EXPECT_DOUBLE_EQ(verdict.quality().score(), 1);
  EXPECT_EQ(verdict.quality().tier(), 1);

  verdict.mutable_quality()->mutable_masks()->set_loads(3);
  verdict.mutable_quality()->mutable_masks()->set_masked_loads(1);
  verdict.mutable_quality()->mutable_masks()->set_stores(1);
  Score(&verdict);
  EXPECT_DOUBLE_EQ(verdict.quality().score(), 0.864) << "(4 + 2 / 4 + 2 + 1 + 1 + 1) / 11";

  verdict.mutable_checks()->set_parses(false);
  verdict.mutable_checks()->set_readable(false);
  verdict.mutable_checks()->set_self_contained(false);
  Score(&verdict);
  EXPECT_DOUBLE_EQ(verdict.quality().score(), 0.5);
  EXPECT_EQ(verdict.quality().tier(), 2);
}

TEST(Score, ALowOneIsRejectedWhereThePolicySaysSo) {
  v1::Verdict verdict = Good();
  verdict.mutable_quality()->set_score(0.4);
  v1::QualityPolicy policy;
  policy.set_min_score(0.5);
  Decide(v1::Kernel(), policy, &verdict);
  EXPECT_THAT(verdict.reasons(), ElementsAre("quality:min_score"));
}

}  // namespace
}  // namespace kernelmill::validator
