#include "common/python/parse/parsed_text.h"

#include <gtest/gtest.h>

namespace kernelmill::python {
namespace {

TEST(BracketRepairTest, ReplacesWhatWasLeftOpenBeforeADefinition) {
  EXPECT_EQ(ReplaceUnclosedBrackets("x = f(1, [2]\n@d\ndef g(a):\n  pass\n"),
            "x = f 1, [2]\n@d\ndef g(a):\n  pass\n");
  EXPECT_EQ(ReplaceUnclosedBrackets("x = {[\n  async def g(): pass\n"),
            "x = 0 \n  async def g(): pass\n");
}

TEST(BracketRepairTest, LeavesClosedBracketsAlone) {
  EXPECT_FALSE(ReplaceUnclosedBrackets("x = (\n1,\n)\ndef f(): pass\n").has_value());
}

TEST(BracketRepairTest, BracketsInStringsAndCommentsAreNone) {
  EXPECT_FALSE(ReplaceUnclosedBrackets("x = '(' # (\ny = \"\"\"(\ndef f(\n\"\"\"\ndef g(): pass\n")
                   .has_value());
}

TEST(BracketRepairTest, AnUnterminatedStringEndsWithItsLine) {
  EXPECT_EQ(ReplaceUnclosedBrackets("x = ('abc\ndef f(): pass\n"), "x = 0'abc\ndef f(): pass\n");
}

TEST(BracketRepairTest, EndsAtTheEndOfTheText) {
  for (const char* text : {"'", "\"\"\"", "'\\", "\"\"\"a\"", "#", "(", ")"}) {
    EXPECT_FALSE(ReplaceUnclosedBrackets(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace kernelmill::python
