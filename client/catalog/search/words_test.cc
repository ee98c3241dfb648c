#include "client/catalog/search/words.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kernelmill::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WordsTest, IdentifiersComeApartAtCapitalsAndUnderscores) {
  EXPECT_THAT(Words("LayerNorm_fwd HTTPServer"),
              ElementsAre("layer", "norm", "fwd", "http", "server"));
}

TEST(WordsTest, DigitsStayWithTheLettersBeforeThem) {
  EXPECT_THAT(Words("fp16 conv2D Conv2DTranspose w4a16"),
              ElementsAre("fp16", "conv2d", "conv2d", "transpose", "w4a16"));
}

TEST(WordsTest, LettersByThemselvesAndWhatIsTooLongAreNoWords) {
  EXPECT_THAT(Words("BLOCK_M x " + std::string(kMaxWord + 1, 'a')), ElementsAre("block"));
}

TEST(WordsTest, ChineseComesInPairsAndPunctuationPartsWords) {
  EXPECT_THAT(Words("注意力，核 größe"), ElementsAre("注意", "意力", "核", "gr", "öß"));
}

TEST(WordsTest, BytesThatAreNoTextGiveNoWords) {
  EXPECT_THAT(Words("\xff\xfe\xe6\xb3 \xf0\x9f\x98\x80 \xe2\x80\xae"), IsEmpty());
}

// tests/catalog/site_test.py has the site's script cut up the same texts.
TEST(WordsTest, TheScriptsCasesComeOutTheSame) {
  std::ifstream file(KERNELMILL_WORD_CASES);
  const auto cases = nlohmann::json::parse(file);
  ASSERT_GE(cases.size(), 10u);
  for (const auto& [text, words] : cases.items()) {
    EXPECT_EQ(Words(text), words.get<std::vector<std::string>>()) << text;
  }
}

TEST(StopWordsTest, WhatSaysNothingIsOne) {
  EXPECT_TRUE(IsStopWord("def"));
  EXPECT_FALSE(IsStopWord("softmax"));
}

}  // namespace
}  // namespace kernelmill::client
