#include "services/extractor/core/cuda/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelmill::extractor::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Texts(absl::string_view text) {
  const Code code = Lex(text);
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < code.size(); ++i) texts.emplace_back(code[i]);
  return texts;
}

TEST(LexerTest, CommentsAreDropped) {
  EXPECT_THAT(Texts("a // b { \n c /* } \n { */ d"), ElementsAre("a", "c", "d"));
  EXPECT_THAT(Texts("a // b \\\n c\nd"), ElementsAre("a", "d"));
  EXPECT_THAT(Texts("a /* never closed { b"), ElementsAre("a"));
}

TEST(LexerTest, StringsAreOneTokenEach) {
  EXPECT_THAT(Texts(R"(f("{ \" //", '{', L"x", u8'y'))"),
              ElementsAre("f", "(", R"("{ \" //")", ",", "'{'", ",", "L\"x\"", ",", "u8'y'", ")"));
  EXPECT_THAT(Texts("\"open\nnext"), ElementsAre("\"open", "next"));
  EXPECT_THAT(Texts("R\"x({ )\" \n)x\" b"), ElementsAre("R\"x({ )\" \n)x\"", "b"));
  EXPECT_THAT(Texts("R\"(never closed"), ElementsAre("R\"(never closed"));
}

TEST(LexerTest, NumbersHaveSeparatorsAndExponents) {
  EXPECT_THAT(Texts("1'000'000 1.5e-3f .5 0x1p+2 0xe+1 'a'"),
              ElementsAre("1'000'000", "1.5e-3f", ".5", "0x1p+2", "0xe", "+", "1", "'a'"));
}

TEST(LexerTest, OperatorsAreTheLongest) {
  EXPECT_THAT(Texts("k<<<g,b>>>(x) a::b->c >>= d && e >> f"),
              ElementsAre("k", "<<<", "g", ",", "b", ">>>", "(", "x", ")", "a", "::", "b", "->",
                          "c", ">>=", "d", "&&", "e", ">>", "f"));
}

TEST(LexerTest, PreprocessorLinesAreDroppedWithTheirContinuations) {
  EXPECT_THAT(Texts("#define F(x) { \\\n  { x\n  # include <a>\na #b"), ElementsAre("a", "#", "b"));
  EXPECT_THAT(Texts("#define A /* { \n */ {\nb"), ElementsAre("b"));
  EXPECT_THAT(Texts("#error don't {\r\nb"), ElementsAre("b"));
}

TEST(LexerTest, WhatConstantConditionsLeaveOutIsDropped) {
  EXPECT_THAT(Texts("#if 0\na\n#if X\nb\n#endif\n#else\nc\n#endif\nd"), ElementsAre("c", "d"));
  EXPECT_THAT(Texts("#if 1 // yes\na\n#elif X\nb\n#else\nc\n#endif\nd"), ElementsAre("a", "d"));
  EXPECT_THAT(Texts("#if 0 && X\na\n#endif"), ElementsAre("a"));
  EXPECT_THAT(Lex("#if 0\n#else\na\n#endif").directives, IsEmpty());
}

TEST(LexerTest, ConditionsAreToldWithTheirPlaces) {
  const Code code = Lex("a\n#ifdef X\nb\n#elif Y\n#else\nc\n#endif\n#if 0\n#elif Z\nd\n#endif\n");
  std::vector<std::pair<int, uint32_t>> found;
  for (const Directive& d : code.directives) found.emplace_back(d.kind, d.before);
  using D = Directive;
  EXPECT_THAT(found,
              ElementsAre(std::pair(D::kIf, 1), std::pair(D::kElif, 2), std::pair(D::kElse, 2),
                          std::pair(D::kEndif, 3), std::pair(D::kIf, 3), std::pair(D::kEndif, 4)));
}

TEST(LexerTest, AnyBytesAreTokens) {
  EXPECT_THAT(Texts("\\"), ElementsAre("\\"));
  EXPECT_THAT(Texts(std::string("a\0\xff", 3)), ElementsAre("a", std::string("\0", 1), "\xff"));
  EXPECT_THAT(Texts("#endif\n#else\n#if"), IsEmpty());
  EXPECT_THAT(Texts("\"\\"), ElementsAre("\"\\"));
}

}  // namespace
}  // namespace kernelmill::extractor::cuda
