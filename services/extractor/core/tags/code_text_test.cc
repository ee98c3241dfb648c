#include "services/extractor/core/tags/code_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

std::string GetText(const CodeText& code, TokenSpan span) {
  std::string text;
  for (size_t at = span.begin; at < span.end; ++at) {
    absl::StrAppend(&text, at > span.begin ? " " : "", code[at]);
  }
  return text;
}

std::vector<std::string> Statements(absl::string_view text, code::Language language) {
  const CodeText code(text, language);
  std::vector<std::string> all;
  for (const TokenSpan span : code.Statements(code.all())) all.push_back(GetText(code, span));
  return all;
}

std::map<std::string, std::string> Functions(absl::string_view text, code::Language language) {
  const CodeText code(text, language);
  std::map<std::string, std::string> all;
  for (const auto& [name, span] : code.Functions()) all[std::string(name)] = GetText(code, span);
  return all;
}

std::map<std::string, int> Calls(absl::string_view text, code::Language language) {
  const CodeText code(text, language);
  CallCounts calls;
  code.CountCalls(code.all(), calls);
  return {calls.begin(), calls.end()};
}

constexpr auto kPython = code::Language::kPython;
constexpr auto kC = code::Language::kC;

TEST(CodeTextTest, StatementsOfPythonAreLogicalLinesAndHeadersOfBlocks) {
  EXPECT_THAT(Statements("a = f(1,\n  x[2:])  # why\nif a: b = 1; c = 2\n", kPython),
              ElementsAre("a = f ( 1 , x [ 2 : ] )", "if a", "b = 1", "c = 2"));
}

TEST(CodeTextTest, StatementsOfCEndAtSemicolonsAndBraces) {
  EXPECT_THAT(Statements("for (int i = 0; i < n; ++i) { a[i] = b; }", kC),
              ElementsAre("for ( int i = 0 ; i < n ; ++ i )", "a [ i ] = b"));
}

TEST(CodeTextTest, FunctionsOfPythonAreWhatIsIndentedBelowThem) {
  EXPECT_THAT(
      Functions("@jit\ndef f(x):\n    return g(x)\n\nA = 1\n"
                "class C:\n    def m(self): return 2\n",
                kPython),
      UnorderedElementsAre(Pair("f", "( x ) : return g ( x )"), Pair("m", "( self ) : return 2")));
}

TEST(CodeTextTest, FunctionsOfCHaveBodies) {
  EXPECT_THAT(Functions("int g(int);\n__device__ int f(int a) { if (a) { return g(a); } }", kC),
              UnorderedElementsAre(Pair("f", "( int a ) { if ( a ) { return g ( a ) ; } }")));
}

TEST(CodeTextTest, FunctionsOfCAreNotInOneAnother) {
  std::string text;
  for (int i = 0; i < 50000; ++i) absl::StrAppend(&text, "f", i, "(){");
  EXPECT_THAT(Functions(text, kC), SizeIs(1));
}

TEST(CodeTextTest, CallsHaveTheLastPartsOfNames) {
  EXPECT_THAT(Calls("def k(x):\n    y = tl.dot(x, g(x)) @ x\n", kPython),
              UnorderedElementsAre(Pair("dot", 1), Pair("g", 1), Pair("@", 1)));
  EXPECT_THAT(Calls("a = f<float, 4>(x) + (b < c) + ns::g(x);", kC),
              UnorderedElementsAre(Pair("f", 1), Pair("g", 1)));
  EXPECT_THAT(Calls("@jit\nx = 1\n", kPython), IsEmpty());
}

TEST(CodeTextTest, AnyBytesAreRead) {
  for (const auto language : {kPython, kC}) {
    for (const absl::string_view text :
         {"", "(", ")]}", "def", "def f", "a<", "\xff{", "x = ([)"}) {
      const CodeText code(text, language);
      code.Statements(code.all());
      code.Functions();
      CallCounts calls;
      code.CountCalls(code.all(), calls);
    }
  }
}

}  // namespace
}  // namespace kernelmill::extractor
