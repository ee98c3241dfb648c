#include "services/extractor/core/embedded/prose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace kernelmill::extractor {
namespace {

using documents::BlockLanguage;
using documents::FencedBlock;
using documents::FindFencedBlocks;

TEST(FencedCodeTest, BlocksKeepTheirPlaces) {
  const std::string text = "So:\n```py\na\n```\nand\r\n```py\nb\n```\nend";
  const std::vector<FencedBlock> blocks = FindFencedBlocks(text);
  EXPECT_EQ(InsideFences(text, blocks, BlockLanguage::kPython),
            "   \n     \na\n   \n   \r\n     \nb\n   \n   ");
  EXPECT_EQ(InsideFences(text, blocks, BlockLanguage::kCuda),
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
