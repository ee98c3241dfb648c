#include "services/deduplicator/core/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"

namespace kernelmill::deduplicator {
namespace {

// The tokens with U+00B7 between them.
std::string Tokens(absl::string_view source) { return absl::StrJoin(Tokenize(source), "·"); }

TEST(Tokenizer, Table) {
  const struct {
    const char* source;
    const char* tokens;
  } cases[] = {
      {"", ""},
      {" \t\f\v\r\n", ""},
      {"x = a+b", "x·=·a·+·b"},
      {"x_1=tl.load(p,mask=m)", "x_1·=·tl·.·load·(·p·,·mask·=·m·)"},
      {"a**=b//c>>=d", "a·**=·b·//·c·>>=·d"},
      {"f(*a, **b) -> c", "f·(·*·a·,·**·b·)·->·c"},
      {"x[..., 1:]", "x·[·...·,·1·:·]"},
      {"1.5e-3 0x1F 1_000", "1·.·5e·-·3·0x1F·1_000"},
      {"a # comment\nb", "a·b"},
      {"# only\r\n", ""},
      {"a \\\n + b", "a·+·b"},
      {"a \\\r\n + b", "a·+·b"},
      {"a \\ b", "a·\\·b"},
      {"s = 'a b'", "s·=·'a b'"},
      {"s = \"a # b\"  # c", "s·=·\"a # b\""},
      {"s = rb'\\'' + F\"x\"", "s·=·rb'\\''·+·F\"x\""},
      {"s = '''a\n'b\n'''", "s·=·'''a\n'b\n'''"},
      {"s = ''", "s·=·''"},
      {"xf'a'", "xf·'a'"},  // no prefix of a string, so a word before one
      {"abc'a'", "abc·'a'"},
      {"s = 'open\nt", "s·=·'open·t"},
      {"s = '''open\nt", "s·=·'''open\nt"},
      {"s = 'x\\", "s·=·'x\\"},
      {"caf\xc3\xa9 = 1", "caf\xc3\xa9·=·1"},
      {"a ? b $", "a·?·b·$"},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(Tokens(test.source), test.tokens) << absl::CEscape(test.source);
  }
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
  EXPECT_EQ(Tokenize("def f(x,\n      y):\n    # add\n    return x+y\n"),
            Tokenize("def f( x, y ):\r\n\treturn x + y"));
}

TEST(Tokenizer, EveryByteIsReadOnAnyInput) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  const std::string nul("a\0b", 3);
  EXPECT_THAT(Tokenize(nul), ::testing::ElementsAre("a", absl::string_view("\0", 1), "b"));
  for (size_t cut = 0; cut < bytes.size(); ++cut) Tokenize(bytes.substr(cut));
  EXPECT_EQ(Tokenize(std::string(10000, ')')).size(), 10000u);
}

}  // namespace
}  // namespace kernelmill::deduplicator
