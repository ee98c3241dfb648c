#include "common/code/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"

namespace kernelmill::code {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Texts(const std::vector<Token>& tokens, Token::Kind kind) {
  std::vector<std::string> texts;
  for (const Token& token : tokens) {
    if (token.kind == kind) texts.emplace_back(token.text);
  }
  return texts;
}

TEST(LexerTest, PythonCommentsAndStringsAreToldFromCode) {
  const std::vector<Token> tokens =
      LexPython("x = 'a # b'  # c 'd'\ny = \"\"\"e\n# f\n\"\"\" + rb'\\'g'\nz");
  EXPECT_THAT(Texts(tokens, Token::kComment), ElementsAre("# c 'd'"));
  EXPECT_THAT(Texts(tokens, Token::kString),
              ElementsAre("'a # b'", "\"\"\"e\n# f\n\"\"\"", "rb'\\'g'"));
  EXPECT_THAT(Texts(tokens, Token::kName), ElementsAre("x", "y", "z"));
}

TEST(LexerTest, AStringThatIsNotClosedEndsWithItsLine) {
  const std::vector<Token> tokens = LexPython("a = 'b\nc = d\n");
  EXPECT_THAT(Texts(tokens, Token::kName), ElementsAre("a", "c", "d"));
  EXPECT_THAT(Texts(LexPython("a = '''b\nc"), Token::kName), ElementsAre("a"));
  EXPECT_THAT(Texts(LexPython("a = 'b\\\r\nc'\nd"), Token::kName), ElementsAre("a", "d"));
  EXPECT_THAT(Texts(LexPython("'\\"), Token::kString), ElementsAre("'\\"));
}

TEST(LexerTest, CCommentsOfBothKindsAreFound) {
  const std::vector<Token> tokens = LexC("int a; /* b\n * c */ \"// d\" // e\nf /* g");
  EXPECT_THAT(Texts(tokens, Token::kComment), ElementsAre("/* b\n * c */", "// e", "/* g"));
  EXPECT_THAT(Texts(tokens, Token::kName), ElementsAre("int", "a", "f"));
}

TEST(LexerTest, StringContentIsWithoutPrefixAndQuotes) {
  EXPECT_EQ(StringContent("'a'"), "a");
  EXPECT_EQ(StringContent("rb\"\"\"a\"b\"\"\""), "a\"b");
  EXPECT_EQ(StringContent("''"), "");
  EXPECT_EQ(StringContent("\"\"\"\"\"\""), "");
  EXPECT_EQ(StringContent("'open"), "open");
}

TEST(LexerTest, EveryByteThatIsNoBlankIsInOneToken) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  for (const auto& tokens : {LexPython(bytes), LexC(bytes)}) {
    const char* last = bytes.data();
    for (const Token& token : tokens) {
      EXPECT_GE(token.text.data(), last);
      ASSERT_FALSE(token.text.empty());
      last = token.text.data() + token.text.size();
    }
    EXPECT_LE(last, bytes.data() + bytes.size());
  }
}

}  // namespace
}  // namespace kernelmill::code
