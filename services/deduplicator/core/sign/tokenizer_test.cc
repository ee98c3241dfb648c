#include "services/deduplicator/core/sign/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"

namespace kernelmill::deduplicator {
namespace {

// The tokens with U+00B7 between them.
std::string Tokens(absl::string_view source, Language language = Language::kPython) {
  std::vector<absl::string_view> texts;
  for (const Token& token : Tokenize(source, language)) texts.push_back(token.text);
  return absl::StrJoin(texts, "·");
}

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
      {"1.5e-3 0x1F 1_000", "1.5e-3·0x1F·1_000"},
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
  EXPECT_EQ(Tokens("def f(x,\n      y):\n    # add\n    return x+y\n"),
            Tokens("def f( x, y ):\r\n\treturn x + y"));
}

TEST(Tokenizer, CTable) {
  const struct {
    const char* source;
    const char* tokens;
  } cases[] = {
      {"int x=a/b; // c\ny", "int·x·=·a·/·b·;·y"},
      {"a /* b\n\"c */ d", "a·d"},
      {"a /* open", "a"},
      {"// one \\\n  two\nthree", "three"},
      {"#define N 4 \\\n + 1", "#·define·N·4·+·1"},
      {"k<<<g, b>>>(p->x, A::y)", "k·<<<·g·,·b·>>>·(·p·->·x·,·A·::·y·)"},
      {"x <<= 1; ++i; a && b", "x·<<=·1·;·++·i·;·a·&&·b"},
      {"1.5e-3f 0x1Fu 1'000 .5", "1.5e-3f·0x1Fu·1'000·.5"},
      {"c = '\\''; s = \"a // b\";", "c·=·'\\''·;·s·=·\"a // b\"·;"},
      {"\"a\\\nb\" c", "\"a\\\nb\"·c"},
      {"R\"x(a)\" b)x\" c", "R\"x(a)\" b)x\"·c"},
      {"LR\"(a\nb)\"", "LR\"(a\nb)\""},
      {"R\"broken", "R\"broken"},
      {"'a'; x", "'a'·;·x"},  // no statement is dropped
  };
  for (const auto& test : cases) {
    EXPECT_EQ(Tokens(test.source, Language::kC), test.tokens) << absl::CEscape(test.source);
  }
}

TEST(Tokenizer, TellsKindsAndStatements) {
  const std::vector<Token> tokens = Tokenize("x = f(1,\n  'a')\ny; z", Language::kPython);
  std::string kinds, begins;
  for (const Token& token : tokens) {
    kinds += "wnso"[static_cast<int>(token.kind)];
    begins += token.begins_statement ? '^' : '.';
  }
  EXPECT_EQ(kinds, "wowonosowow");
  EXPECT_EQ(begins, "^.......^^^");
}

TEST(Tokenizer, EveryByteIsReadOnAnyInput) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(Tokens(std::string("a\0b", 3)), std::string("a·\0·b", 7));
  for (const Language language : {Language::kPython, Language::kC}) {
    for (size_t cut = 0; cut < bytes.size(); ++cut) Tokenize(bytes.substr(cut), language);
    EXPECT_EQ(Tokenize(std::string(10000, ')'), language).size(), 10000u);
  }
}

}  // namespace
}  // namespace kernelmill::deduplicator
