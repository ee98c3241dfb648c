#include "client/catalog/pages/highlight.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill::client {
namespace {

using code::Language;

// The text of HTML, entities put back.
std::string ReadText(const std::string& html) {
  std::string text;
  for (size_t i = 0; i < html.size(); ++i) {
    if (html[i] == '<') {
      i = html.find('>', i);
    } else if (html.compare(i, 4, "&lt;") == 0) {
      text += '<';
      i += 3;
    } else if (html.compare(i, 6, "&quot;") == 0) {
      text += '"';
      i += 5;
    } else {
      text += html[i];
    }
  }
  return text;
}

TEST(Highlight, GivesEachKindItsClassAndEachLineItsNumber) {
  const HighlightedCode code = HighlightCode("@triton.jit\ndef k(x):  # c\n    return f(1)\n",
                                             Language::kPython, 7, true, 10000);
  EXPECT_EQ(
      code.html,
      "<span class=\"l\" id=\"L7\"><span class=\"n\" aria-hidden=\"true\" data-n=\"7\"></span>"
      "<span class=\"d\">@triton.jit</span>\n</span>"
      "<span class=\"l\" id=\"L8\"><span class=\"n\" aria-hidden=\"true\" data-n=\"8\"></span>"
      "<span class=\"k\">def</span> <span class=\"f\">k</span>(x):  <span class=\"c\"># "
      "c</span>\n</span>"
      "<span class=\"l\" id=\"L9\"><span class=\"n\" aria-hidden=\"true\" data-n=\"9\"></span>"
      "    <span class=\"k\">return</span> <span class=\"f\">f</span>(<span "
      "class=\"n1\">1</span>)\n</span>");
  EXPECT_EQ(code.lines, 3);
  EXPECT_FALSE(code.cut);
}

TEST(Highlight, KeepsTheVeryTextOfWhatIsHostileOrBroken) {
  const std::string text = "x = \"\"\"</script>\n<b> \"\"\" + '\n)]@\n\n  y";
  const std::string html = HighlightCode(text, Language::kPython, 1, false, 10000).html;
  EXPECT_EQ(html.find("</script>"), std::string::npos);
  EXPECT_NE(html.find("&lt;/script&gt;"), std::string::npos);
  std::string shown = ReadText(html);
  for (const auto& [entity, letter] : {std::pair("&gt;", ">"), {"&#39;", "'"}}) {
    for (size_t at; (at = shown.find(entity)) != std::string::npos;) {
      shown.replace(at, std::string(entity).size(), letter);
    }
  }
  EXPECT_EQ(shown, text);
}

TEST(Highlight, StopsAtAWholeLineWhereThereIsNoMoreRoom) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "x = 1\n";
  const HighlightedCode code = HighlightCode(text, Language::kPython, 1, true, 2000);
  EXPECT_TRUE(code.cut);
  EXPECT_LE(code.html.size(), 2000u);
  EXPECT_GT(code.lines, 5);
  EXPECT_LT(code.lines, 100);
}

TEST(Highlight, KnowsCuda) {
  const std::string html =
      HighlightCode("__global__ void k(float* x) { // c", Language::kC, 1, false, 10000).html;
  EXPECT_NE(html.find("<span class=\"k\">__global__</span>"), std::string::npos);
  EXPECT_NE(html.find("<span class=\"c\">// c</span>"), std::string::npos);
}

}  // namespace
}  // namespace kernelmill::client
