#include "common/code/python_escapes.h"

#include <gtest/gtest.h>

namespace kernelmill::code {
namespace {

// Returns the value of the whole text.
std::string Read(absl::string_view text, bool bytes = false) {
  std::string value;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      value += text[at++];
      continue;
    }
    const PythonEscape escape = ReadPythonEscape(text, at, bytes);
    value += escape.value;
    at = escape.end;
  }
  return value;
}

TEST(PythonEscapesTest, SequencesHaveTheirValues) {
  EXPECT_EQ(Read("a\\n\\\\n\\t\\'\\\""), "a\n\\n\t'\"");
  EXPECT_EQ(Read("\\x41\\101\\u00e9\\U0001F600"), "AA\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(Read("\\0001"), std::string("\0", 1) + "1");
  EXPECT_EQ(Read("\\N{BULLET}!"), "\xef\xbf\xbd!");
}

TEST(PythonEscapesTest, ALineEndAfterABackslashIsNothing) {
  EXPECT_EQ(Read("a\\\nb\\\r\nc"), "abc");
}

TEST(PythonEscapesTest, OtherBackslashesStay) {
  EXPECT_EQ(Read("\\p\\xg1\\u12\\N\\"), "\\p\\xg1\\u12\\N\\");
}

TEST(PythonEscapesTest, BytesHaveFewerSequences) {
  EXPECT_EQ(Read("\\xe9\\u00e9\\N{BULLET}", true), "\xe9\\u00e9\\N{BULLET}");
}

}  // namespace
}  // namespace kernelmill::code
