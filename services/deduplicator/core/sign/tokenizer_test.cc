#include "services/deduplicator/core/sign/tokenizer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_join.h"

namespace kernelmill::deduplicator {
namespace {

// The tokens with U+00B7 between them.
std::string Tokens(absl::string_view source, Language language = Language::kPython) {
  std::vector<absl::string_view> texts;
  for (const Token& token : Tokenize(source, language)) texts.push_back(token.text);
  return absl::StrJoin(texts, "·");
}

TEST(Tokenizer, CommentsAreDropped) {
  EXPECT_EQ(Tokens("a # comment\nb  # only"), "a·b");
  EXPECT_EQ(Tokens("int x=a/b; // c\ny /* open", Language::kC), "int·x·=·a·/·b·;·y");
  EXPECT_EQ(Tokens(" \t\f\v\r\n# a"), "");
}

TEST(Tokenizer, AStringThatIsAStatementIsDropped) {
  EXPECT_EQ(Tokens("def f(x):\n  \"\"\"Doc.\n\n  more\"\"\"\n  return x"),
            "def·f·(·x·)·:·return·x");
  EXPECT_EQ(Tokens("'a'"), "");
  EXPECT_EQ(Tokens("x\n'a'  # why\ny"), "x·y");
  EXPECT_EQ(Tokens("'a'; x; 'b'\ny"), ";·x·;·y");
}

TEST(Tokenizer, AStringThatIsUsedStays) {
  EXPECT_EQ(Tokens("f(\n'a'\n)"), "f·(·'a'·)");
  EXPECT_EQ(Tokens("x = \\\n'a'"), "x·=·'a'");
  EXPECT_EQ(Tokens("'a' 'b'"), "'a'·'b'");
  EXPECT_EQ(Tokens("return 'a'"), "return·'a'");
}

TEST(Tokenizer, LayoutAndCommentsDoNotCount) {
  EXPECT_EQ(Tokens("def f(x,\n      y):\n    # add\n    return x+y\n"),
            Tokens("def f( x, y ):\r\n\treturn x + y"));
}

TEST(Tokenizer, InCNoStatementIsDropped) {
  EXPECT_EQ(Tokens("'a'; x", Language::kC), "'a'·;·x");
  EXPECT_EQ(Tokens("\"a\"", Language::kC), "\"a\"");
}

}  // namespace
}  // namespace kernelmill::deduplicator
