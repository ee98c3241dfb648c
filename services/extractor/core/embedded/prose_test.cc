#include "services/extractor/core/embedded/prose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "LANGUAGE CONTENT" of every block.
std::vector<std::string> Blocks(absl::string_view text) {
  std::vector<std::string> found;
  for (const FencedBlock& block : FindFencedBlocks(text)) {
    found.push_back(absl::StrCat(static_cast<int>(block.language), " ",
                                 text.substr(block.begin, block.end - block.begin)));
  }
  return found;
}

TEST(FencedCodeTest, BlocksAreOfTheLanguageThatTheirFenceNames) {
  EXPECT_THAT(Blocks("```python\na\n```\nb\n~~~Cuda x\nc\n~~~\n```\nd\n```\n```sh\ne\n```"),
              ElementsAre("0 a\n", "1 c\n", "2 d\n", "3 e\n"));
}

TEST(FencedCodeTest, ABlockIsClosedByItsOwnFenceOrTheEnd) {
  EXPECT_THAT(Blocks("````py\n```\n~~~\n````x\n````\n"), ElementsAre("0 ```\n~~~\n````x\n"));
  EXPECT_THAT(Blocks("  ```py\r\n  a"), ElementsAre("0   a"));
  EXPECT_THAT(Blocks("``` a`b\n``\n x ```py\n"), IsEmpty());
}

TEST(FencedCodeTest, BlocksKeepTheirPlaces) {
  const std::string text = "So:\n```py\na\n```\nand\r\n```py\nb\n```\nend";
  const std::vector<FencedBlock> blocks = FindFencedBlocks(text);
  EXPECT_EQ(InsideFences(text, blocks, FencedLanguage::kPython),
            "   \n     \na\n   \n   \r\n     \nb\n   \n   ");
  EXPECT_EQ(InsideFences(text, blocks, FencedLanguage::kCuda),
            "   \n     \n \n   \n   \r\n     \n \n   \n   ");
  EXPECT_EQ(OutsideFences(text, blocks), "So:\n     \n \n   \nand\r\n     \n \n   \nend");
}

std::string Blanks(size_t count) { return std::string(count, ' '); }

TEST(ProseTest, DefinitionsAndImportsStay) {
  const std::string code =
      "import triton.language as tl\n"
      "from triton import jit\n"
      "\n"
      "@triton.autotune(\n"
      "    configs=[],\n"
      ")\n"
      "@jit\n"
      "def f(\n"
      "    x,\n"
      "):\n"
      "    x = '''\n"
      "    '''\n"
      "\n"
      "    return x\n";
  EXPECT_EQ(WithoutProse(code), code);
}

TEST(ProseTest, WhatStandsAroundThemIsBlank) {
  EXPECT_EQ(WithoutProse("Don't!\r\n  def f(x):\n    y\n  It's\n\ndef g(): z\nfrom the end"),
            Blanks(6) + "\r\n  def f(x):\n    y\n" + Blanks(6) + "\n\ndef g(): z\n" + Blanks(12));
  EXPECT_EQ(WithoutProse("import the whole thing\n@ all\nclass of its own"),
            Blanks(22) + "\n" + Blanks(5) + "\n" + Blanks(16));
}

}  // namespace
}  // namespace kernelmill::extractor
