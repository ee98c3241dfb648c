#include "common/text/safe_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelmill::client {
namespace {

using ::testing::ElementsAre;

TEST(SafeLines, WhatATerminalWouldActOnIsSpelledOut) {
  EXPECT_THAT(SafeLines("a\x1b[2J\x07\r\nb\x7f\xc2\x9b", 80),
              ElementsAre("a\\x1b[2J\\x07\\x0d", "b\\x7f\\x9b"));
}

TEST(SafeLines, WhatTurnsOrHidesTextIsSpelledOut) {
  EXPECT_THAT(SafeLines("x\xe2\x80\xae y\xe2\x80\x8b\xef\xbb\xbf", 80),
              ElementsAre("x\\u202e y\\u200b\\ufeff"));
}

TEST(SafeLines, BytesThatAreNoUtf8AreSpelledOutAndTheRestIsKept) {
  EXPECT_THAT(SafeLines("\xff\xc3\xa4\xc3", 80), ElementsAre("\\xff\xc3\xa4\\xc3"));
  EXPECT_THAT(SafeLines("\xed\xa0\x80", 80), ElementsAre("\\xed\\xa0\\x80"));
  EXPECT_THAT(SafeLines("\xc0\xaf", 80), ElementsAre("\\xc0\\xaf"));
}

TEST(SafeLines, LongLinesGoOnBelowAndNothingIsParted) {
  EXPECT_THAT(SafeLines("12345678\x1b"
                        "9\n\n\tx",
                        8),
              ElementsAre("12345678", "\\x1b9", "", "    x"));
  EXPECT_THAT(SafeLines("1234567\xc3\xa4\xc3\xa4", 8), ElementsAre("1234567\xc3\xa4", "\xc3\xa4"));
}

}  // namespace
}  // namespace kernelmill::client
