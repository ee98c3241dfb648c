#include "services/extractor/core/cuda/brackets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace kernelmill::extractor::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BracketsTest, KindsNest) {
  const Brackets brackets = MatchBrackets(Lex("{ ( [ <<< >>> ] ) }"));
  EXPECT_THAT(brackets.match, ElementsAre(7, 6, 5, 4, 3, 2, 1, 0));
  EXPECT_THAT(brackets.errors, IsEmpty());
}

TEST(BracketsTest, ABraceEndsWhatIsOpenWithinIt) {
  const Brackets brackets = MatchBrackets(Lex("{ ( [ } {}"));
  EXPECT_THAT(brackets.match, ElementsAre(3, kNoToken, kNoToken, 0, 5, 4));
  EXPECT_THAT(brackets.errors, ElementsAre(3));
}

TEST(BracketsTest, StrayClosersAreErrorsAndNothingElse) {
  const Brackets brackets = MatchBrackets(Lex("} ) ( ] ) >>>"));
  EXPECT_THAT(brackets.match, ElementsAre(kNoToken, kNoToken, 4, kNoToken, 2, kNoToken));
  EXPECT_THAT(brackets.errors, ElementsAre(0, 1, 3));
}

TEST(BracketsTest, AlternativesThatOpenTheSameCountOnce) {
  const Brackets brackets = MatchBrackets(Lex("{\n#if A\nif {\n#else\nwhile {\n#endif\n} }"));
  EXPECT_THAT(brackets.match, ElementsAre(6, kNoToken, 5, kNoToken, kNoToken, 2, 0));
  EXPECT_THAT(brackets.errors, IsEmpty());
}

TEST(BracketsTest, AlternativesThatCloseTheSameCountOnce) {
  const Brackets brackets =
      MatchBrackets(Lex("{\n{\n#if A\n} a\n#elif B\n} b\n#else\n} c\n#endif\n}"));
  EXPECT_THAT(brackets.match,
              ElementsAre(8, 2, 1, kNoToken, kNoToken, kNoToken, kNoToken, kNoToken, 0));
  EXPECT_THAT(brackets.errors, IsEmpty());
}

TEST(BracketsTest, EveryBranchHasItsOwnPairs) {
  const Brackets brackets = MatchBrackets(Lex("#if A\n{}\n#else\n{}\n#endif\n{}"));
  EXPECT_THAT(brackets.match, ElementsAre(1, 0, 3, 2, 5, 4));
}

TEST(BracketsTest, BranchesThatOpenDifferentlyManyAreErrors) {
  const Brackets brackets = MatchBrackets(Lex("{\n#if A\nif {\n#endif\n}\n#if B\n}\n#endif\n"));
  EXPECT_THAT(brackets.match, ElementsAre(4, kNoToken, 3, 2, 0));
  EXPECT_THAT(brackets.errors, ElementsAre(1, 3, 4, 5));
  EXPECT_TRUE(brackets.HasErrorIn(2, 3));
  EXPECT_FALSE(brackets.HasErrorIn(2, 2));
}

TEST(BracketsTest, WhatOneConditionOpensTheSameOneMayClose) {
  for (const char* condition :
       {"#if A", "#ifdef A", "#if defined(A)", "#ifndef A", "#if !defined A"}) {
    const std::string text =
        absl::StrCat("f() {\n", condition, "\nfor {\n#else\nif { }\n#endif\nx;\n", condition,
                     "\n}\n#endif\n} g");
    const Brackets brackets = MatchBrackets(Lex(text));
    EXPECT_THAT(brackets.errors, IsEmpty()) << condition;
    EXPECT_EQ(brackets.match[3], 12u) << condition;  // the function's
    EXPECT_EQ(brackets.match[5], 11u) << condition;  // the loop's
    EXPECT_FALSE(brackets.HasErrorIn(0, 12)) << condition;
    EXPECT_TRUE(brackets.HasErrorIn(0, 7)) << condition;
  }
}

TEST(BracketsTest, TheOppositeConditionTakesTheOtherBranch) {
  const Brackets brackets = MatchBrackets(
      Lex("f() {\n#ifndef A\nif { }\n#else\nfor {\n#endif\nx;\n#ifdef A\n}\n#endif\n} g"));
  EXPECT_THAT(brackets.errors, IsEmpty());
  EXPECT_EQ(brackets.match[3], 12u);
  EXPECT_FALSE(brackets.HasErrorIn(0, 12));
}

TEST(BracketsTest, ManyUnevenConditionalsInOneFunctionAreAnError) {
  std::string text = "{";
  for (int i = 0; i < 50; ++i) absl::StrAppend(&text, "\n#if A\n{\n#endif\n#if A\n}\n#endif\n");
  text += "}";
  const Brackets brackets = MatchBrackets(Lex(text));
  EXPECT_THAT(brackets.errors, IsEmpty());
  EXPECT_TRUE(brackets.HasErrorIn(0, 101));
  EXPECT_FALSE(brackets.HasErrorIn(1, 20));
}

TEST(BracketsTest, GoingBackToAnIfCostsNothingHoweverDeep) {
  std::string text(1 << 20, '(');
  text += "\n#if A\n";
  for (int i = 0; i < 100000; ++i) text += "}\n#elif B\n";
  EXPECT_EQ(MatchBrackets(Lex(text + "#endif")).match.size(), (1u << 20) + 100000u);
}

}  // namespace
}  // namespace kernelmill::extractor::cuda
