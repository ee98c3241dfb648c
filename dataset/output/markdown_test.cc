#include "dataset/output/markdown.h"

#include <gtest/gtest.h>

namespace kernelmill::dataset {
namespace {

TEST(MarkdownCell, PlainTextStaysReadable) {
  EXPECT_EQ(MarkdownCell("github.com/a/b-c (MIT)"), "github.com/a/b-c (MIT)");
}

TEST(MarkdownCell, NothingEndsTheCellOrBecomesMarkup) {
  EXPECT_EQ(MarkdownCell("a|b\n<i>`*_[x](y)"), "a\\|b &lt;i>\\`\\*\\_\\[x](y)");
}

TEST(MarkdownCell, EscapesOfTerminalsAndReorderingAreSpelledOut) {
  EXPECT_EQ(MarkdownCell("a\x1b[31m\xc2\x9b\xe2\x80\xae."), "a\\\\x1b\\[31m\\\\x9b\\\\u202e.");
}

TEST(MarkdownCell, AddressesAreNoLinks) {
  EXPECT_EQ(MarkdownCell("see https://a.example, www.b.example, c@d.example"),
            "see https&#58;//a.example, www&#46;b.example, c&#64;d.example");
}

}  // namespace
}  // namespace kernelmill::dataset
