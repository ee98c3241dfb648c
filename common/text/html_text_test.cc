#include "common/text/html_text.h"

#include <gtest/gtest.h>

namespace kernelmill::client {
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
}  // namespace kernelmill::client
