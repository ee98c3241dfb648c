#include "common/python/usage/usage_rules.h"

#include <gtest/gtest.h>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"

namespace kernelmill::python {
namespace {

TEST(UsageRulesTest, EachRuleHasOneRowInOrder) {
  absl::flat_hash_set<absl::string_view> names;
  size_t place = 1;
  for (const UsageRuleInfo& rule : UsageRules()) {
    EXPECT_EQ(static_cast<size_t>(rule.rule), place++) << rule.name;
    EXPECT_TRUE(absl::StartsWith(rule.name, "usage:")) << rule.name;
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_STRNE(rule.evidence, "") << rule.name;
    EXPECT_STREQ(RuleName(rule.rule), rule.name);
    EXPECT_EQ(FindUsageRule(rule.name), &rule);
  }
}

TEST(UsageRulesTest, EachRuleHasAReader) {
  for (const UsageRuleInfo& rule : UsageRules()) {
    EXPECT_FALSE(absl::string_view(rule.role).empty() && absl::string_view(rule.inferred).empty())
        << rule.name;
  }
}

TEST(UsageRulesTest, AnUnknownNameIsNoRule) {
  EXPECT_EQ(FindUsageRule("usage:cdviv"), nullptr);
  EXPECT_EQ(FindUsageRule("cdiv"), nullptr);
  EXPECT_EQ(FindUsageRule(""), nullptr);
  EXPECT_STREQ(RuleName(UsageRule::kNoRule), "");
}

}  // namespace
}  // namespace kernelmill::python
