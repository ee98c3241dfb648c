#include "common/code/python.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill::code {
namespace {

TEST(PythonLayout, LineEndsBecomeOne) {
  EXPECT_EQ(WithUnixLineEnds("a\r\nb\rc\n\r\n"), "a\nb\nc\n\n");
  EXPECT_EQ(WithUnixLineEnds("a\r\r\n"), "a\n\n");
}

TEST(PythonLayout, StatementsLoseTheIndentationOfTheFirst) {
  EXPECT_EQ(DedentPython("  a\n    b\n\n  c"), "a\n  b\n\nc");
  EXPECT_EQ(DedentPython("a\n  b\n"), "a\n  b\n");
  EXPECT_EQ(DedentPython(""), "");
  EXPECT_FALSE(DedentPython("  a\n\tb\n").has_value());
  EXPECT_FALSE(DedentPython("    a\n  b\n").has_value());
}

TEST(PythonLayout, CommentsAndBracketsMayBeIndentedLess) {
  EXPECT_EQ(DedentPython("  f(\n a,\nb)\n# c\n  d\n"), "f(\na,\nb)\n# c\nd\n");
  EXPECT_EQ(DedentPython("  a = \\\n1\n  b\n"), "a = \\\n1\nb\n");
  EXPECT_EQ(DedentPython("  a\n \n\n  b\n"), "a\n\n\nb\n");
}

TEST(PythonLayout, TheInsideOfAStringStaysAsItIs) {
  EXPECT_EQ(DedentPython("  def f():\n    \"\"\"Doc.\n    more\n    \"\"\"\n    '''\n  x'''; y\n"),
            "def f():\n  \"\"\"Doc.\n    more\n    \"\"\"\n  '''\n  x'''; y\n");
  EXPECT_EQ(DedentPython("  a = 'x\\\n  y'\n  b\n"), "a = 'x\\\n  y'\nb\n");
}

TEST(PythonLayout, AMethodBecomesAFunction) {
  EXPECT_EQ(
      AtModuleLevel("    @staticmethod  # why\r\n    @triton.jit\r\n    def f(x):\r\n        pass"),
      "@triton.jit\ndef f(x):\n    pass\n");
  EXPECT_EQ(AtModuleLevel("  # first\n  @a(\n    b)\n  @classmethod\n  def f(): pass\n"),
            "# first\n@a(\n  b)\ndef f(): pass\n");
  EXPECT_EQ(AtModuleLevel("@staticmethod.x\ndef f():\n  @staticmethod\n  def g(): pass\n"),
            "@staticmethod.x\ndef f():\n  @staticmethod\n  def g(): pass\n");
  EXPECT_EQ(AtModuleLevel("\xef\xbb\xbf x = 1"), "x = 1\n");
  EXPECT_EQ(AtModuleLevel(""), "\n");
  EXPECT_FALSE(AtModuleLevel("  a\nb\n").has_value());
}

TEST(PythonLayout, LastLinesAreCountedFromTheEnd) {
  EXPECT_EQ(BeginOfLastLines("a\nb\nc\n", 0), 6u);
  EXPECT_EQ(BeginOfLastLines("a\nb\nc\n", 1), 4u);
  EXPECT_EQ(BeginOfLastLines("a\nb\nc\n", 2), 2u);
  EXPECT_EQ(BeginOfLastLines("a\nb\nc\n", 3), 0u);
  EXPECT_EQ(BeginOfLastLines("a\nb\nc\n", 9), 0u);
  EXPECT_EQ(BeginOfLastLines("a\n\n\n", 2), 2u);
  EXPECT_EQ(BeginOfLastLines("", 1), 0u);
}

}  // namespace
}  // namespace kernelmill::code
