#include "common/tokens/encoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kernelmill::bpe {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Pieces(Split split, absl::string_view text) {
  std::vector<std::string> pieces;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = split(text, begin);
    pieces.emplace_back(text.substr(begin, end - begin));
  }
  return pieces;
}

std::vector<std::string> Cl100k(absl::string_view text) { return Pieces(SplitCl100kBase, text); }
std::vector<std::string> O200k(absl::string_view text) { return Pieces(SplitO200kBase, text); }

TEST(Split, AWordTakesOneCharacterBeforeIt) {
  EXPECT_THAT(Cl100k("tl.load(x)"), ElementsAre("tl", ".load", "(x", ")"));
  EXPECT_THAT(O200k("tl.load(x)"), ElementsAre("tl", ".load", "(x", ")"));
  EXPECT_THAT(O200k("\tif"), ElementsAre("\tif"));
  EXPECT_THAT(O200k("\nif"), ElementsAre("\n", "if"));
}

TEST(Split, O200kCutsBeforeACapital) {
  EXPECT_THAT(Cl100k("BlockSize"), ElementsAre("BlockSize"));
  EXPECT_THAT(O200k("BlockSize"), ElementsAre("Block", "Size"));
  EXPECT_THAT(O200k("HTMLPage"), ElementsAre("HTMLPage"));
  EXPECT_THAT(O200k("x HTML"), ElementsAre("x", " HTML"));
}

TEST(Split, ContractionsAreCaseless) {
  EXPECT_THAT(Cl100k("it'S we'LLx"), ElementsAre("it", "'S", " we", "'LL", "x"));
  EXPECT_THAT(O200k("it'S we'LLx"), ElementsAre("it'S", " we'LL", "x"));
  EXPECT_THAT(Cl100k("it'\xc5\xbf"), ElementsAre("it", "'\xc5\xbf")) << "a long s folds to an s";
}

TEST(Split, NumbersAreCutInThrees) {
  EXPECT_THAT(Cl100k("1234567"), ElementsAre("123", "456", "7"));
  EXPECT_THAT(O200k(" 1234"), ElementsAre(" ", "123", "4"));
}

TEST(Split, SymbolsTakeASpaceBeforeAndLineEndsBehind) {
  EXPECT_THAT(Cl100k("x += (\n\n  y"), ElementsAre("x", " +=", " (\n\n", " ", " y"));
  EXPECT_THAT(Cl100k("x //\n/"), ElementsAre("x", " //\n", "/"));
  EXPECT_THAT(O200k("x //\n/"), ElementsAre("x", " //\n/"));
}

TEST(Split, WhiteSpaceLeavesItsLastCharacterToTheWordBehind) {
  EXPECT_THAT(Cl100k("a    b"), ElementsAre("a", "   ", " b"));
  EXPECT_THAT(Cl100k("a \n \n  b"), ElementsAre("a", " \n \n", " ", " b"));
  EXPECT_THAT(Cl100k("a\xc2\xa0\xe2\x80\x83 1"),
              ElementsAre("a", "\xc2\xa0\xe2\x80\x83", " ", "1"));
}

TEST(Split, WhiteSpaceAtTheEndIsOnePieceOfCl100kAlone) {
  EXPECT_THAT(Cl100k("a\n  "), ElementsAre("a", "\n  "));
  EXPECT_THAT(O200k("a\n  "), ElementsAre("a", "\n", "  "));
}

TEST(Split, AMarkIsPartOfAWordOfO200kAndASymbolOfCl100k) {
  EXPECT_THAT(Cl100k("a\xcc\x81 b"), ElementsAre("a", "\xcc\x81", " b"));
  EXPECT_THAT(O200k("a\xcc\x81 b"), ElementsAre("a\xcc\x81", " b"));
  EXPECT_THAT(O200k("\xcc\x81"
                    "A"),
              ElementsAre("\xcc\x81", "A"))
      << "the first alternative gives back";
}

}  // namespace

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Ids as tiktoken gives them; tests/peers/tiktoken_test.py compares many more texts.
TEST(Encoding, GivesTiktokensIds) {
  EXPECT_THAT(Cl100kBase().Encode("hello world"), ElementsAre(15339, 1917));
  EXPECT_THAT(O200kBase().Encode("hello world"), ElementsAre(24912, 2375));
  EXPECT_THAT(Cl100kBase().Encode(""), IsEmpty());
}

TEST(Encoding, TextThatLooksLikeASpecialTokenIsText) {
  EXPECT_GT(Cl100kBase().Count("<|endoftext|>"), 1u);
  EXPECT_GT(O200kBase().Count("<|endoftext|>"), 1u);
}

// More words than a count remembers, each twice, some longer than it remembers.
TEST(Encoding, ACountIsTheNumberOfTokens) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    absl::StrAppend(&text, " ", std::string(static_cast<size_t>(i % 30), 'a' + i % 26), i / 2);
  }
  for (const Encoding* encoding : {&Cl100kBase(), &O200kBase()}) {
    EXPECT_EQ(encoding->Count(text), encoding->Encode(text).size());
  }
}

TEST(Encoding, WhatIsNotUtf8IsAReplacementCharacterEach) {
  EXPECT_EQ(Cl100kBase().Encode("a\xff\xfe z"), Cl100kBase().Encode("a\xef\xbf\xbd\xef\xbf\xbd z"));
}

TEST(Encoding, AMegabyteWithoutAPlaceToCutIsMerged) {
  const std::string letters(1 << 20, 'a');
  EXPECT_LT(Cl100kBase().Count(letters), letters.size() / 4);
}

}  // namespace

}  // namespace kernelmill::bpe
