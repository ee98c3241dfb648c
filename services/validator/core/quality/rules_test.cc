#include "services/validator/core/quality/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/dsl/names.h"

namespace kernelmill::validator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

v1::Kernel KernelWith(v1::KernelRole role) {
  v1::Kernel kernel;
  kernel.set_dsl(dsl::kTriton);
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

// A kernel for which everything speaks.
v1::Kernel Worthy() {
  v1::Kernel kernel = KernelWith(v1::KERNEL_ROLE_KERNEL);
  kernel.set_tokens(400);
  kernel.mutable_launcher()->set_path("a.py");
  kernel.add_tags()->set_name("matmul");
  kernel.add_parameters()->set_role(v1::PARAMETER_ROLE_POINTER);
  return kernel;
}

v1::Verdict Commented() {
  v1::Verdict verdict = Good();
  verdict.mutable_quality()->set_comment_ratio(0.2);
  verdict.set_kind("operation");
  return verdict;
}

double GetScore(const v1::Kernel& kernel, v1::Verdict verdict, const std::string& above = "") {
  verdict.clear_rules();
  ListRules(kernel, &verdict);
  Score(kernel, above, &verdict);
  return verdict.quality().score();
}

TEST(Score, IsTheMeanOfItsEvidence) {
  EXPECT_DOUBLE_EQ(GetScore(Worthy(), Commented()), 1);
  v1::Verdict verdict = Commented();
  verdict.mutable_quality()->mutable_masks()->set_loads(3);
  verdict.mutable_quality()->mutable_masks()->set_masked_loads(1);
  verdict.mutable_quality()->mutable_masks()->set_stores(1);
  EXPECT_DOUBLE_EQ(GetScore(Worthy(), verdict), 0.906) << "(14 + 2 / 4) / 16";
  v1::Kernel kernel = Worthy();
  kernel.clear_launcher();
  EXPECT_DOUBLE_EQ(GetScore(kernel, Commented()), 0.786) << "11 / 14";
  kernel.set_form(v1::KERNEL_FORM_KERNEL_ARGUMENT);
  EXPECT_DOUBLE_EQ(GetScore(kernel, Commented()), 1);
  kernel.clear_tags();
  EXPECT_DOUBLE_EQ(GetScore(kernel, Commented()), 0.857) << "12 / 14";
}

TEST(Score, ACommentAboveIsAsGoodAsADocstring) {
  v1::Verdict verdict = Commented();
  verdict.mutable_checks()->set_has_docstring(false);
  EXPECT_DOUBLE_EQ(GetScore(Worthy(), verdict), 0.914) << "(11 + 3 * 0.6) / 14";
  EXPECT_DOUBLE_EQ(GetScore(Worthy(), verdict, "// Adds two rows.\n"), 1);
  EXPECT_DOUBLE_EQ(GetScore(Worthy(), verdict, "// ------\n"), 0.914);
}

TEST(Score, FragmentsAndTrivialOnesAreOfNoTierOne) {
  v1::Kernel kernel = Worthy();
  kernel.set_tokens(63);
  EXPECT_LT(GetScore(kernel, Commented()), 0.7);
  kernel.set_tokens(10);
  EXPECT_DOUBLE_EQ(GetScore(kernel, Commented()), 0.109);
  kernel = Worthy();
  kernel.set_role(v1::KERNEL_ROLE_DEVICE);
  v1::Verdict verdict = Commented();
  verdict.set_kind("helper");
  EXPECT_DOUBLE_EQ(GetScore(kernel, verdict), 0.7);
}

TEST(Score, KindLengthAndSyntaxErrorsTakeWorthAway) {
  v1::Verdict verdict = Commented();
  verdict.set_kind("broken");
  EXPECT_DOUBLE_EQ(GetScore(Worthy(), verdict), 0.2);
  verdict = Commented();
  verdict.mutable_checks()->set_parses(false);
  EXPECT_DOUBLE_EQ(GetScore(Worthy(), verdict), 0.5);
  v1::Kernel kernel = Worthy();
  kernel.set_tokens(128);
  EXPECT_DOUBLE_EQ(GetScore(kernel, Commented()), 0.85);
  kernel.set_tokens(100'000);
  EXPECT_DOUBLE_EQ(GetScore(kernel, Commented()), 0.7);
}

TEST(Score, IsFairToCudaAndPallas) {
  v1::Kernel kernel = Worthy();
  kernel.set_dsl(dsl::kCuda);
  kernel.clear_launcher();
  kernel.mutable_cuda()->add_launches();
  kernel.set_source("__global__ void k(int n) { if (threadIdx.x < n) { } }\n");
  EXPECT_DOUBLE_EQ(GetScore(kernel, Commented()), 1);
  v1::Verdict open = Commented();
  open.mutable_checks()->set_self_contained(false);
  EXPECT_LT(GetScore(kernel, open), 0.9);
  kernel.set_source("__global__ void k(int n) { }\n");
  EXPECT_LT(GetScore(kernel, Commented()), 0.9);
  kernel = Worthy();
  kernel.set_dsl(dsl::kPallas);
  v1::Verdict verdict = Commented();
  verdict.mutable_checks()->set_self_contained(false);
  EXPECT_DOUBLE_EQ(GetScore(kernel, verdict), 1);
}

TEST(Decide, KindsTargetsAndLengthAreThePolicys) {
  v1::Verdict verdict = Good();
  verdict.set_kind("test");
  verdict.set_target("ascend");
  v1::Kernel kernel;
  kernel.set_tokens(63);
  v1::QualityPolicy policy;
  Decide(kernel, policy, &verdict);
  EXPECT_THAT(verdict.reasons(), IsEmpty());
  policy.add_exclude_kinds("broken");
  policy.add_exclude_kinds("test");
  policy.add_targets("generic");
  policy.add_targets("nvidia");
  policy.set_min_tokens(64);
  Decide(kernel, policy, &verdict);
  EXPECT_THAT(verdict.reasons(),
              ElementsAre("quality:kind:test", "quality:min_tokens", "quality:target:ascend"));
  verdict.set_kind("operation");
  verdict.set_target("nvidia");
  kernel.set_tokens(64);
  Decide(kernel, policy, &verdict);
  EXPECT_THAT(verdict.reasons(), IsEmpty());
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
