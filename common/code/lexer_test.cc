#include "common/code/lexer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "common/code/python.h"

namespace kernelmill::code {
namespace {

// The tokens with U+00B7 between them.
std::string Tokens(absl::string_view source, Language language) {
  std::vector<absl::string_view> texts;
  for (const Token& token : Lex(source, language)) texts.push_back(token.text);
  return absl::StrJoin(texts, "·");
}

struct Case {
  const char* source;
  const char* tokens;
};

TEST(Lexer, PythonTable) {
  const Case cases[] = {
      {"", ""},
      {" \t\f\v\r\n", ""},
      {"x = a+b", "x·=·a·+·b"},
      {"x_1=tl.load(p,mask=m)", "x_1·=·tl·.·load·(·p·,·mask·=·m·)"},
      {"a**=b//c>>=d", "a·**=·b·//·c·>>=·d"},
      {"f(*a, **b) -> c", "f·(·*·a·,·**·b·)·->·c"},
      {"x[..., 1:]", "x·[·...·,·1·:·]"},
      {"1.5e-3 0x1F 1_000 0b1 1e 0x .5j", "1.5e-3·0x1F·1_000·0b1·1·e·0·x·.5j"},
      {"a # comment\nb", "a·# comment·b"},
      {"# only\r\n", "# only"},
      {"a \\\n + b", "a·+·b"},
      {"a \\\r\n + b", "a·+·b"},
      {"a \\ b", "a·\\·b"},
      {"s = \"a # b\"  # c 'd'", "s·=·\"a # b\"·# c 'd'"},
      {"s = rb'\\'' + F\"x\"", "s·=·rb'\\''·+·F\"x\""},
      {"s = '''a\n'b\n'''", "s·=·'''a\n'b\n'''"},
      {"s = ''", "s·=·''"},
      {"xf'a'", "xf·'a'"},
      {"abc'a'", "abc·'a'"},
      {"s = 'open\nt", "s·=·'open·t"},
      {"s = '''open\nt", "s·=·'''open\nt"},
      {"s = 'x\\", "s·=·'x\\"},
      {"caf\xc3\xa9 = 1", "caf\xc3\xa9·=·1"},
      {"a ? b $", "a·?·b·$"},
      // An unclosed part of a field ends with the line, or with the text.
      {"s = f'{x\nt", "s·=·f'{x·t"},
      {"s = f'{\"x'\nt", "s·=·f'{\"x'·t"},
      {"s = f'{x:>\nt", "s·=·f'{x:>·t"},
      {"s = f'{(x}'\nt", "s·=·f'{(x}'·t"},
      {"s = f'{x:\\'^9}'\nt", "s·=·f'{x:\\'^9}'·t"},
      {"s = f'''{x\nt", "s·=·f'''{x\nt"},
      {"s = rf'\\{x}' 'y'", "s·=·rf'\\{x}'·'y'"},
      {"s = f'}}{{' 'y'", "s·=·f'}}{{'·'y'"},
  };
  for (const Case& test : cases) {
    EXPECT_EQ(Tokens(test.source, Language::kPython), test.tokens) << absl::CEscape(test.source);
  }
}

TEST(Lexer, CTable) {
  const Case cases[] = {
      {"int x=a/b; // c\ny", "int·x·=·a·/·b·;·// c·y"},
      {"a /* b\n\"c */ d", "a·/* b\n\"c */·d"},
      {"a /* open", "a·/* open"},
      {"// one \\\n  two\nthree", "// one \\\n  two·three"},
      {"#define N 4 \\\n + 1", "#·define·N·4·+·1"},
      {"k<<<g, b>>>(p->x, A::y)", "k·<<<·g·,·b·>>>·(·p·->·x·,·A·::·y·)"},
      {"x <<= 1; ++i; a && b", "x·<<=·1·;·++·i·;·a·&&·b"},
      {"1.5e-3f 0x1Fu 1'000 .5", "1.5e-3f·0x1Fu·1'000·.5"},
      {"c = '\\''; s = \"a // b\";", "c·=·'\\''·;·s·=·\"a // b\"·;"},
      {"\"a\\\nb\" c", "\"a\\\nb\"·c"},
      {"R\"x(a)\" b)x\" c", "R\"x(a)\" b)x\"·c"},
      {"LR\"(a\nb)\"", "LR\"(a\nb)\""},
      {"R\"broken", "R\"broken"},
      {"R\"(open", "R\"(open"},
      {"'open\nx", "'open·x"},
  };
  for (const Case& test : cases) {
    EXPECT_EQ(Tokens(test.source, Language::kC), test.tokens) << absl::CEscape(test.source);
  }
}

TEST(Lexer, TellsKindsAndStatements) {
  std::string kinds, begins;
  for (const Token& token : Lex("x = f(1,  # ;\n  'a')\n# b\ny; z", Language::kPython)) {
    kinds += "nds#o"[token.kind];
    begins += token.begins_statement ? '^' : '.';
  }
  EXPECT_EQ(kinds, "nonodo#so#non");
  EXPECT_EQ(begins, "^.........^^^");
}

TEST(Lexer, EveryByteThatIsNoBlankIsInOneToken) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  for (const Language language : {Language::kPython, Language::kC}) {
    EXPECT_EQ(Tokens(std::string("a\0b", 3), language), std::string("a·\0·b", 7));
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      const char* last = bytes.data();
      for (const Token& token : Lex(absl::string_view(bytes).substr(0, cut), language)) {
        EXPECT_GE(token.text.data(), last);
        ASSERT_FALSE(token.text.empty());
        last = token.text.data() + token.text.size();
      }
      EXPECT_LE(last, bytes.data() + cut);
    }
  }
}

TEST(Lexer, HostileNestingTakesLinearTimeAndNoStack) {
  for (const char* piece :
       {"f'{", "f\"{f'''{", "f'''{x:{", "f'''{(", "R\"(", "rf'{\\'", "{", "'''"}) {
    std::string text;
    while (text.size() < 1 << 18) text += piece;
    for (const Language language : {Language::kPython, Language::kC}) {
      EXPECT_FALSE(Lex(text, language).empty());
    }
  }
}

TEST(PythonPrefix, IsReadInAnyOrderAndCase) {
  for (const char* letters :
       {"", "r", "U", "b", "F", "t", "bR", "Rb", "fr", "rF", "TR", "rt", "ur"}) {
    const auto prefix = ReadPythonPrefix(letters);
    ASSERT_TRUE(prefix.has_value()) << letters;
    const std::string lower = absl::AsciiStrToLower(letters);
    EXPECT_EQ(prefix->raw, absl::StrContains(lower, "r")) << letters;
    EXPECT_EQ(prefix->bytes, absl::StrContains(lower, "b")) << letters;
    EXPECT_EQ(prefix->is_template_string, absl::StrContains(lower, "t")) << letters;
    EXPECT_EQ(prefix->replaces, lower.find_first_of("ft") != std::string::npos) << letters;
  }
  for (const char* letters : {"bb", "rr", "bu", "ub", "fb", "ft", "uf", "x", "rx", "bru", "frf"}) {
    EXPECT_FALSE(ReadPythonPrefix(letters).has_value()) << letters;
  }
}

TEST(PythonStringContent, IsWithoutPrefixAndQuotes) {
  EXPECT_EQ(PythonStringContent("'a'"), "a");
  EXPECT_EQ(PythonStringContent("rb\"\"\"a\"b\"\"\""), "a\"b");
  EXPECT_EQ(PythonStringContent("''"), "");
  EXPECT_EQ(PythonStringContent("\"\"\"\"\"\""), "");
  EXPECT_EQ(PythonStringContent("'open"), "open");
}

}  // namespace
}  // namespace kernelmill::code
