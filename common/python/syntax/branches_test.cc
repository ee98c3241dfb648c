#include "common/python/syntax/branches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/python/parse/parsed_text.h"

namespace kernelmill::python {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The conditions around the first place of `code`: "A", or "not A".
std::vector<std::string> Around(const std::string& text, const std::string& code) {
  const auto parsed = *ParsedText::Parse(text, StandardParser());
  std::vector<std::string> conditions;
  for (const Branch& branch : FindBranches(parsed->tree(), text.find(code))) {
    conditions.push_back(
        absl::StrCat(branch.holds ? "" : "not ", parsed->tree().GetText(branch.condition)));
  }
  return conditions;
}

constexpr char kText[] = R"(
def k(x):
    first()
    if A == 1:
        second()
        if B:
            third()
    elif C:
        fourth()
    else:
        fifth()
    y = sixth() if D else seventh()
    for i in range(eighth()):
        ninth()
)";

TEST(BranchesTest, TheConditionsAroundCodeAreToldInnermostFirst) {
  EXPECT_THAT(Around(kText, "first"), IsEmpty());
  EXPECT_THAT(Around(kText, "second"), ElementsAre("A == 1"));
  EXPECT_THAT(Around(kText, "third"), ElementsAre("B", "A == 1"));
  EXPECT_THAT(Around(kText, "fourth"), ElementsAre("C", "not A == 1"));
  EXPECT_THAT(Around(kText, "fifth"), ElementsAre("not C", "not A == 1"));
  EXPECT_THAT(Around(kText, "ninth"), IsEmpty());
}

TEST(BranchesTest, AConditionIsNotUnderItself) {
  EXPECT_THAT(Around(kText, "A == 1"), IsEmpty());
  EXPECT_THAT(Around(kText, "C:"), ElementsAre("not A == 1"));
}

TEST(BranchesTest, AConditionalExpressionHasTwoBranches) {
  EXPECT_THAT(Around(kText, "sixth"), ElementsAre("D"));
  EXPECT_THAT(Around(kText, "seventh"), ElementsAre("not D"));
}

TEST(BranchesTest, AFunctionIsFoundAroundItsCode) {
  const std::string text = kText;
  const auto parsed = *ParsedText::Parse(text, StandardParser());
  EXPECT_NE(FindFunctionAround(parsed->tree(), text.find("third")), kNoNode);
  EXPECT_EQ(FindFunctionAround(parsed->tree(), 0), kNoNode);
}

}  // namespace
}  // namespace kernelmill::python
