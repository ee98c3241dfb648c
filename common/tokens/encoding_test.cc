#include "common/tokens/encoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelmill::bpe {
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

TEST(Encoding, WhatIsNotUtf8IsAReplacementCharacterEach) {
  EXPECT_EQ(Cl100kBase().Encode("a\xff\xfe z"), Cl100kBase().Encode("a\xef\xbf\xbd\xef\xbf\xbd z"));
}

TEST(Encoding, AMegabyteWithoutAPlaceToCutIsMerged) {
  const std::string letters(1 << 20, 'a');
  EXPECT_LT(Cl100kBase().Count(letters), letters.size() / 4);
}

}  // namespace
}  // namespace kernelmill::bpe
