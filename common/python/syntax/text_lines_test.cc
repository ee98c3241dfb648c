#include "common/python/syntax/text_lines.h"

#include <gtest/gtest.h>

namespace kernelmill::python {
namespace {

TEST(TextForParserTest, LeavesOrdinaryTextAlone) {
  EXPECT_FALSE(TextForParser("if x:\r\n    y\r\n\tz\n").has_value());
}

TEST(TextForParserTest, TurnsLoneCarriageReturnsIntoLineFeeds) {
  EXPECT_EQ(TextForParser("a\rb\r\nc\r"), "a\nb\r\nc\n");
}

TEST(TextForParserTest, TurnsNulsIntoBlanks) {
  EXPECT_EQ(TextForParser(absl::string_view("a\0\r\n", 4)), "a \r\n");
}

TEST(TextForParserTest, GivesMixedIndentationCPythonsWidth) {
  // Four blanks and a tab are 8 columns, not 12.
  EXPECT_EQ(TextForParser("    \tx\n"), "\f\f\f\f\tx\n");
  // Nine blanks and a tab are 16, and the blanks after it count.
  EXPECT_EQ(TextForParser("         \t  x\n"), "\f\f\f\f\f\f\f\f\t\t  x\n");
}

}  // namespace
}  // namespace kernelmill::python
