#include "common/code/brackets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelmill::code {
namespace {

using ::testing::ElementsAre;

std::vector<Token> Python(absl::string_view text) { return Lex(text, Language::kPython); }

TEST(BracketsTest, OnlyWholeTokensAreBrackets) {
  EXPECT_TRUE(IsOpeningBracket("["));
  EXPECT_TRUE(IsClosingBracket("}"));
  EXPECT_FALSE(IsOpeningBracket("<"));
  EXPECT_FALSE(IsOpeningBracket("(("));
  EXPECT_FALSE(IsClosingBracket(""));
  EXPECT_EQ(BracketDepthChange("{"), 1);
  EXPECT_EQ(BracketDepthChange(")"), -1);
  EXPECT_EQ(BracketDepthChange(","), 0);
}

TEST(BracketsTest, ClosingBracketIsFoundPastInnerOnesAndStrings) {
  const std::vector<Token> tokens = Python("f(a[1], ')', {})");
  EXPECT_EQ(FindClosingBracket(tokens, 1), tokens.size() - 1);
  EXPECT_EQ(FindClosingBracket(tokens, 3), 5u);
}

TEST(BracketsTest, BracketThatNothingClosesEndsWithTheText) {
  const std::vector<Token> tokens = Python("f(a[1]");
  EXPECT_EQ(FindClosingBracket(tokens, 1), tokens.size());
}

TEST(BracketsTest, MarksInBracketsAreNotFound) {
  const std::vector<Token> tokens = Python("f(a: int) : b : c");
  EXPECT_EQ(FindOutsideBrackets(tokens, 0, tokens.size(), ":"), 6u);
  EXPECT_EQ(FindOutsideBrackets(tokens, 0, 6, ":"), 6u);
  EXPECT_EQ(FindOutsideBrackets(tokens, 2, tokens.size(), ":"), 3u);
}

TEST(BracketsTest, MarkBehindAStrayClosingBracketIsNotOutside) {
  const std::vector<Token> tokens = Python(") :");
  EXPECT_EQ(FindOutsideBrackets(tokens, 0, tokens.size(), ":"), tokens.size());
}

TEST(BracketsTest, EachOpeningBracketHasItsEnd) {
  EXPECT_THAT(MatchBrackets(Python("(a[b])")), ElementsAre(5, 1, 4, 3, 4, 5));
}

TEST(BracketsTest, KindsAreNotComparedAndStrayOnesMatchNothing) {
  EXPECT_THAT(MatchBrackets(Python(")(]{")), ElementsAre(0, 2, 2, 4));
}

}  // namespace
}  // namespace kernelmill::code
