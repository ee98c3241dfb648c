// All readers of code cut it up in the same way: the validator and the deduplicator, which read
// tokens, and the extractor, which reads trees of Python and tokens of CUDA.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/code/lexer.h"
#include "common/python/parse/python_parser.h"
#include "common/python/syntax/syntax_tree.h"
#include "services/deduplicator/core/sign/tokenizer.h"
#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill {
namespace {

using Texts = std::vector<absl::string_view>;

// Joins the tokens with U+00B7, so that a failure is easy to read.
std::string Joined(const Texts& texts) { return absl::StrJoin(texts, "·"); }

std::string OfLexer(absl::string_view source, code::Language language, bool strings_alone) {
  Texts texts;
  for (const code::Token& token : code::Lex(source, language)) {
    if (token.kind == code::Token::kComment) continue;
    if (!strings_alone || token.kind == code::Token::kString) texts.push_back(token.text);
  }
  return Joined(texts);
}

std::string OfDeduplicator(absl::string_view source, code::Language language) {
  Texts texts;
  for (const auto& token : deduplicator::Tokenize(source, language)) texts.push_back(token.text);
  return Joined(texts);
}

// Returns the string literals of the tree, except those inside others.
std::string OfTree(absl::string_view source, bool plain_first) {
  python::StandardParser::Options options;
  options.plain_first = plain_first;
  const auto tree = python::StandardParser(options).Parse(source);
  EXPECT_TRUE(tree.ok() && !tree->has_errors()) << absl::CEscape(source);
  Texts texts;
  for (python::NodeId node = 0; tree.ok() && node < tree->size();) {
    const bool is_string = tree->GetKind(node) == python::Kind::kString;
    if (is_string) texts.push_back(tree->GetText(node));
    node = is_string ? (*tree)[node].subtree_end : node + 1;
  }
  return Joined(texts);
}

std::string OfCudaLexer(absl::string_view source) {
  Texts texts;
  const extractor::cuda::Code code = extractor::cuda::Lex(source);
  for (uint32_t i = 0; i < code.size(); ++i) texts.push_back(code[i]);
  return Joined(texts);
}

TEST(Lexers, PythonLiteralsEndAtTheSamePlace) {
  const struct {
    const char* source;
    const char* tokens;
    const char* strings;
    bool in_grammar = true;  // tree-sitter's grammar knows it
  } cases[] = {
      {"s = rb'\\'' + Rb\"\"\"a\"b\"\"\"\n", "s·=·rb'\\''·+·Rb\"\"\"a\"b\"\"\"",
       "rb'\\''·Rb\"\"\"a\"b\"\"\""},
      {"s = fr'{x}' + U'b'\n", "s·=·fr'{x}'·+·U'b'", "fr'{x}'·U'b'"},
      // The deduplicator did not know t-strings.
      {"s = t'{x}' + rt\"y\"\n", "s·=·t'{x}'·+·rt\"y\"", "t'{x}'·rt\"y\"", false},
      // Validator and deduplicator read these as prefixes.
      {"s = x in'b'\n", "s·=·x·in·'b'", "'b'"},
      {"ft'a'\n", "ft·'a'", "'a'", false},
      {"bu'a'\n", "bu·'a'", "'a'", false},
      // They ended f-strings at quotes within fields.
      {"s = f\"{x[\"a\"]} b\"\n", "s·=·f\"{x[\"a\"]} b\"", "f\"{x[\"a\"]} b\""},
      {"s = f'{f'{y}'}' + z\n", "s·=·f'{f'{y}'}'·+·z", "f'{f'{y}'}'"},
      {"s = f'{x!r:>{w}}' 'y'\n", "s·=·f'{x!r:>{w}}'·'y'", "f'{x!r:>{w}}'·'y'"},
      {"s = f'{{\"' + f'{x:{y}}'\n", "s·=·f'{{\"'·+·f'{x:{y}}'", "f'{{\"'·f'{x:{y}}'"},
      {"s = f\"\"\"{d['a']:\"^9} {\n x}\"\"\"\n", "s·=·f\"\"\"{d['a']:\"^9} {\n x}\"\"\"",
       "f\"\"\"{d['a']:\"^9} {\n x}\"\"\""},
      {"s = f'{ {1: 2}[1] }' + f'{a[1:2]}'\n", "s·=·f'{ {1: 2}[1] }'·+·f'{a[1:2]}'",
       "f'{ {1: 2}[1] }'·f'{a[1:2]}'"},
      // The deduplicator ended a string at the second byte of a Windows line end.
      {"s = 'a\\\r\nb'\n", "s·=·'a\\\r\nb'", "'a\\\r\nb'"},
      // The validator read the backslash as a token.
      {"f(a, \\\n  mask=m)\n", "f·(·a·,·mask·=·m·)", ""},
      // Numbers: the validator cut these up, the deduplicator joined too much.
      {"x = 1.5e-3 + .5 + 1_000j + 0x_1F\n", "x·=·1.5e-3·+·.5·+·1_000j·+·0x_1F", ""},
      {"x = 1if y else 2\n", "x·=·1·if·y·else·2", ""},
      {"x = 1..real + 0xe+1\n", "x·=·1.·.·real·+·0xe·+·1", ""},
      {"x **= y // z\n", "x·**=·y·//·z", ""},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(absl::CEscape(test.source));
    EXPECT_EQ(OfLexer(test.source, code::Language::kPython, false), test.tokens);
    EXPECT_EQ(OfLexer(test.source, code::Language::kPython, true), test.strings);
    EXPECT_EQ(OfDeduplicator(test.source, code::Language::kPython), test.tokens);
    if (!test.in_grammar) continue;
    EXPECT_EQ(OfTree(test.source, /*plain_first=*/true), test.strings);
    EXPECT_EQ(OfTree(test.source, /*plain_first=*/false), test.strings);
  }
}

TEST(Lexers, CudaLiteralsEndAtTheSamePlace) {
  const struct {
    const char* source;
    const char* tokens;
  } cases[] = {
      // The validator did not know prefixes, raw strings or separators.
      {"L\"a\" u8'b' U\"c\" u\"d\"", "L\"a\"·u8'b'·U\"c\"·u\"d\""},
      {"R\"x(a)\" // b\n)x\" c", "R\"x(a)\" // b\n)x\"·c"},
      {"uR\"(a\")\" + u8R\"(b)\"", "uR\"(a\")\"·+·u8R\"(b)\""},
      {"x = 1'000'000; 'y'", "x·=·1'000'000·;·'y'"},
      {"0x1F'FFu 0b1'0 1.'a'", "0x1F'FFu·0b1'0·1.·'a'"},
      // The deduplicator read these as a literal with a prefix.
      {"LR'x'", "LR·'x'"},
      {"R'x' + y", "R·'x'·+·y"},
      // Both accepted characters that a delimiter may not have.
      {"R\"a b(c)a b\" d", "R\"a b(c)a b\"·d"},
      {"R\"\\(\" d)", "R\"\\(\"·d·)"},
      {"R\"01234567890123456(x\" y", "R\"01234567890123456(x\"·y"},
      // The deduplicator did not know binary exponents, the validator no exponents at all.
      {"0x1p-3 1.5e+3f 0xe+1 .5", "0x1p-3·1.5e+3f·0xe·+·1·.5"},
      // To nvcc a dollar is a letter.
      {"$a + b$1", "$a·+·b$1"},
      // The validator ended a comment with its first line, the extractor missed a second backslash.
      {"a // b \\\n c\nd", "a·d"},
      {"a // b \\\r\n c\nd", "a·d"},
      {"a // b \\\\\n c\nd", "a·d"},
      {"\"a\\\r\nb\" c", "\"a\\\r\nb\"·c"},
      {"k<<<g, b>>>(p->x, A::y) <=> z->*w", "k·<<<·g·,·b·>>>·(·p·->·x·,·A·::·y·)·<=>·z·->*·w"},
      // Digraphs stay as written: tokens are compared and never preprocessed.
      {"a<:0:> <% %>", "a·<·:·0·:·>·<·%·%·>"},
      {"\"x\"_s + 'y'_t", "\"x\"·_s·+·'y'·_t"},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(absl::CEscape(test.source));
    EXPECT_EQ(OfLexer(test.source, code::Language::kC, false), test.tokens);
    EXPECT_EQ(OfDeduplicator(test.source, code::Language::kC), test.tokens);
    EXPECT_EQ(OfCudaLexer(test.source), test.tokens);
  }
}

}  // namespace
}  // namespace kernelmill
