#include "common/python/syntax/text_lines.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

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

// The second byte of each is a backslash.
TEST(TextForParserTest, HidesSecondBytesThatAreAscii) {
  for (const char* encoding : {"big5", "Big5-HKSCS", "cp950", "gbk", "GB18030", "cp936", "cp932",
                               "shift_jis", "Shift_JIS-2004", "sjis", "ms932", "johab"}) {
    const std::string head = absl::StrCat("#!/bin/x\n# -*- coding: ", encoding, " -*-\n");
    EXPECT_EQ(TextForParser(head + "s = '\xe0\x5c'\\\n"), head + "s = '\xe0x'\\\n") << encoding;
  }
  EXPECT_EQ(TextForParser("# vim: set fileencoding=gbk :\n'\x81\x5c'"),
            "# vim: set fileencoding=gbk :\n'\x81x'");
}

TEST(TextForParserTest, LeavesOtherEncodingsAlone) {
  for (const char* head : {"", "# coding: utf-8\n", "# coding: euc-jp\n", "# coding: latin-1\n",
                           "x = 'coding: gbk'\n", "\n\n# coding: gbk\n"}) {
    EXPECT_FALSE(TextForParser(absl::StrCat(head, "s = '\xe0\x5c'\n")).has_value()) << head;
  }
  // A character of one byte of Shift JIS.
  EXPECT_EQ(TextForParser("# coding: sjis\n'\xb1'"), "# coding: sjis\n'\xb1'");
}

}  // namespace
}  // namespace kernelmill::python
