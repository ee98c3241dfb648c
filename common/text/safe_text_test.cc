#include "common/text/safe_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelmill {
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

namespace {

TEST(EscapeHtml, MarkupIsText) {
  EXPECT_EQ(EscapeHtml("</script><b a=\"1\" c='2'>&amp;"),
            "&lt;/script&gt;&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;");
}

TEST(HtmlLine, WhatTurnsTextIsSpelledOutAndLinesAreJoined) {
  EXPECT_EQ(HtmlLine("a\xe2\x80\xae<b>\nc"), "a\\u202e&lt;b&gt; c");
}

TEST(HtmlCode, KeepsTheVeryTextAndIsolatesWhatTurnsIt) {
  EXPECT_EQ(HtmlCode("x = '\xc3\xa4' < 1\n\ty"), "x = &#39;\xc3\xa4&#39; &lt; 1\n\ty");
  EXPECT_EQ(HtmlCode("a\xe2\x80\xae"
                     "b"),
            "a<bdi class=\"u\" data-u=\"\\u202e\">\xe2\x80\xae</bdi>b");
  EXPECT_EQ(HtmlCode("a\r\n"), "a&#13;\n");
}

TEST(WebUrl, OfOtherSchemesIsNoLink) {
  EXPECT_EQ(WebUrl("https://example.com/a"), "https://example.com/a");
  EXPECT_EQ(WebUrl("javascript:alert(1)"), "");
  EXPECT_EQ(WebUrl("file:///etc/passwd"), "");
}

}  // namespace

}  // namespace kernelmill
