#include "services/deduplicator/core/sign/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
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

namespace {

std::string Names(absl::string_view source, Language language) {
  const std::vector<Token> tokens = Tokenize(source, language);
  const auto names = LocalNames(tokens, language);
  std::vector<absl::string_view> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  return absl::StrJoin(sorted, " ");
}

TEST(LocalNames, Python) {
  const struct {
    const char* source;
    const char* names;
  } cases[] = {
      {"def f(x, *y, n=1, B: tl.constexpr = g(z), **kw) -> t:\n  pass", "B f kw n x y"},
      {"a = b = c.d", "a b"},
      {"(a, b), c = d", "a b c"},
      {"[a, b] = d", "a b"},
      {"a.b = 1\nc[i] = 2\n", "c"},
      {"a += 1\nb == c\nd <= e\n", "a"},
      {"x: tl.constexpr = 4", "x"},
      {"f(mask=m, other=0.0)", ""},
      {"for i, j in tl.range(n): s = i", "i j s"},
      {"if a: b = 1\nelse: c = 2", "b c"},
      {"with f() as g: pass", "g"},
      {"h = lambda a, b: a + c", "a b h"},
      {"(n := 10)", "n"},
      {"tl.store(p, v)", ""},
      {"class C:\n  pass", "C"},
      {"def", ""},
      {"for", ""},
      {"def f(((", "f"},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(Names(test.source, Language::kPython), test.names) << test.source;
  }
}

TEST(LocalNames, C) {
  const struct {
    const char* source;
    const char* names;
  } cases[] = {
      {"void k(const float* __restrict__ p, int n)", "n p"},
      {"float s = a.b + c; s += d;", "s"},
      {"p->x = 1; q.y = 2; r[i] = 3;", ""},
      {"for (int i = 0; i < n; ++i) {}", "i"},
      {"__shared__ float tile[32][33];", "tile"},
      {"unsigned int t; return x;", "t"},
      {"f(threadIdx.x); g(a, b);", ""},
      {"template <typename T> T v{};", "T v"},
      {"T& r = s;", "r"},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(Names(test.source, Language::kC), test.names) << test.source;
  }
}

// Each word begins a list that runs to the end of the text.
TEST(LocalNames, NoTextTakesLong) {
  for (const char* word : {"lambda ", "for ", "def f("}) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) absl::StrAppend(&text, word);
    Names(text, Language::kPython);
  }
}

}  // namespace

}  // namespace kernelmill::deduplicator
