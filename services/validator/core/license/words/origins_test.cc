#include "services/validator/core/license/words/origins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/validator/core/license/words/comment_blocks.h"

namespace kernelmill::validator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Files : public OwnFiles {
 public:
  bool Has(absl::string_view path) const override {
    return path == "own.py" || path == "a/b/ops/chunk.py";
  }
};

// The origins of a file, joined by "; ".
std::string Origins(const std::string& content, const std::string& path = "k.py") {
  std::vector<std::string> origins;
  for (const OriginStatement& one :
       FindOrigins(CommentsOfFile(path), content, "https://example.com/me/mill", Files())) {
    origins.push_back(one.origin);
  }
  return absl::StrJoin(origins, "; ");
}

TEST(OriginsTest, AddressesFollowAnyVerb) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"# Adapted from https://example.com/o/n/blob/main/k.py.",
       "https://example.com/o/n/blob/main/k.py"},
      {"# Based on https://example.com/o/n", "https://example.com/o/n"},
      {"# Modified from: (https://example.com/o/n)", "https://example.com/o/n"},
      {"# copied and slightly modified from <https://example.com/o/n>", "https://example.com/o/n"},
      {"# Original code: https://example.com/o/n#L3", "https://example.com/o/n#L3"},
      {"# Adapted from the X kernel: https://example.com/o/n", "https://example.com/o/n"},
      {"# Adapted from\n#   https://example.com/o/n\n#   https://example.com/p/q\n# x",
       "https://example.com/o/n; https://example.com/p/q"},
      {"# Credit: https://example.com/o/n", "https://example.com/o/n"},
      {"# From https://example.com/o/n", "https://example.com/o/n"},
      {"\"\"\"A kernel.\n\nPorted from [it](https://example.com/o/n).\n\"\"\"",
       "https://example.com/o/n"},
      {"# taken from github.com/o/n", "github.com/o/n"},
  };
  for (const auto& [text, origin] : cases) EXPECT_EQ(Origins(text + "\n"), origin) << text;
}

TEST(OriginsTest, CommentsOfCppAreReadInEachOfItsFiles) {
  for (const char* path : {"k.cu", "k.cuh", "k.hip", "k.h", "k.hxx", "k.inl", "k.inc", "k.cxx"}) {
    EXPECT_EQ(Origins("// Adapted from https://example.com/o/n\nint x;\n", path),
              "https://example.com/o/n")
        << path;
    EXPECT_EQ(Origins("/*\n * Ported from\n *   https://example.com/o/n\n */\nint x;\n", path),
              "https://example.com/o/n")
        << path;
  }
}

TEST(OriginsTest, NamesFollowStrongVerbs) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"# Adapted from turboderp/exllama", "turboderp/exllama"},
      {"# Adapted from vLLM project (Apache-2.0).", "vLLM project"},
      {"# The kernels in this file are adapted from vLLM:", "vLLM"},
      {"# This kernel is borrowed from FlagAttention's forward.", "FlagAttention's forward"},
      {"# Modified from the Triton matmul tutorial", "Triton matmul tutorial"},
      {"# copied from torchao/utils.py", "torchao/utils.py"},
      {"# copied from flash-attn", "flash-attn"},
      {"# This code is derived from sglang and others", "sglang"},
      {"# Credit to Ann Other for this", "Ann Other"},
      {"# this is a port of xformers", "xformers"},
      {"# Copied/adapted from vllm", "vllm"},
      {"# Inspired and modified from Triton tutorial", "Triton tutorial"},
      {"# ported from fla 0.5.2 `fwd_kernel`", "fla 0.5.2"},
      {"# based on triton.ops.matmul", "triton.ops.matmul"},
      {"// This function is adapted from\n// FlashInfer", "FlashInfer"},
  };
  for (const auto& [text, origin] : cases)
    EXPECT_EQ(Origins(text + "\n", text[0] == '/' ? "k.cu" : "k.py"), origin) << text;
}

TEST(OriginsTest, WhatIsSaidOfValuesIsNoOrigin) {
  for (const char* text : {"# Credits: Initially inspired by vLLM",
                           "# scalar version of ld_64/ld_128",
                           "# copied from shared memory",
                           "# Derived from BLOCK_SIZE",
                           "# taken from the input tensor",
                           "# Choose the config based on the number of SMs",
                           "# based on input/output types",
                           "# Compute pid based on Triton grid",
                           "# copied from GPU to CPU",
                           "# modified from above",
                           "# Adapted for Huawei",
                           "# never modified again",
                           "# adapted to https://example.com/o/n",
                           "# Based on https://arxiv.org/abs/1234.5678",
                           "# see https://example.com/o/n",
                           "# Based on the paper (https://example.com/x.pdf)",
                           "# derived from Eq. 5",
                           "# extracted from a fused projection",
                           "# a copy of the tensor",
                           "# port to Triton",
                           "# based on Algorithm 1",
                           "# Reference: https://example.com/o/n",
                           "# Inspired by https://example.com/o/n",
                           "# original values from HBM",
                           "# Credit score",
                           "# copied from host/device buffers",
                           "# lifted from the loop",
                           "# derived from this software without specific prior written permission",
                           "x = 'Adapted from https://example.com/o/n'"}) {
    EXPECT_EQ(Origins(std::string(text) + "\n"), "") << text;
  }
}

TEST(OriginsTest, TheSourcesOwnIsNoOrigin) {
  for (const char* text : {"# Adapted from https://example.com/me/mill/blob/k.py",
                           "# copied from fork/mill", "# Modified from a/b/ops/chunk.py",
                           "# Copied from own.py", "# Adapted from the Mill project"}) {
    EXPECT_EQ(Origins(std::string(text) + "\n"), "") << text;
  }
  EXPECT_EQ(Origins("# Modified from a/b/ops/other.py\n"), "a/b/ops/other.py");
}

// "origin@line" of what is about [first, last].
std::vector<std::string> About(const std::string& content, int first, int last) {
  std::vector<std::string> about;
  for (const OriginStatement& one : FindOrigins(code::Language::kPython, content, "", Files())) {
    if (IsAbout(one, first, last)) about.push_back(absl::StrCat(one.origin, "@", one.line));
  }
  return about;
}

TEST(OriginsTest, AStatementIsAboutTheFileOrWhatItStandsAt) {
  const std::string content =
      "# Adapted from an/file-1\n"        // 1
      "import triton\n"                   // 2
      "\n"                                // 3
      "# Adapted from be/first-2\n"       // 4
      "@triton.jit\n"                     // 5
      "def f():\n"                        // 6
      "    # Adapted from ce/inside-3\n"  // 7
      "    pass\n"                        // 8
      "\n"                                // 9
      "# Adapted from de/second-4\n"      // 10
      "\n"                                // 11
      "def g():\n"                        // 12
      "    pass\n";                       // 13
  EXPECT_THAT(About(content, 5, 8), ElementsAre("an/file-1@1", "be/first-2@4", "ce/inside-3@7"));
  EXPECT_THAT(About(content, 12, 13), ElementsAre("an/file-1@1", "de/second-4@10"));
}

TEST(OriginsTest, ANameIsRecognizedInAText) {
  EXPECT_TRUE(
      NamesOrigin("LICENSE FOR Mamba and vLLM code", "https://github.com/vllm-project/vllm/x"));
  EXPECT_TRUE(NamesOrigin("licenses/LICENSE-MIT-triton", "triton-lang/triton"));
  EXPECT_TRUE(NamesOrigin("Copyright 2023 FlashInfer community", "FlashInfer"));
  EXPECT_TRUE(NamesOrigin("LICENSE FOR Flash Thing", "https://github.com/ow/flash-thing"));
  EXPECT_TRUE(NamesOrigin("LICENSE FOR Ann Other Labs", "https://github.com/ann-other-labs/ops"));
  EXPECT_FALSE(NamesOrigin("MIT License", "turboderp/exllama"));
  EXPECT_TRUE(NamesOrigin("the Triton-lang project", "https://triton-lang.org/main/x.html"));
  EXPECT_FALSE(NamesOrigin("for questions", "https://stackoverflow.com/questions/17"));
  EXPECT_FALSE(NamesOrigin("see the options", "https://github.com/ann/ops"));
  EXPECT_FALSE(NamesOrigin("", "turboderp/exllama"));
  EXPECT_FALSE(NamesOrigin("some words of a kernel", "the kernel"));
}

TEST(OriginsTest, HostileFilesAreHarmless) {
  std::string many;
  for (int i = 0; i < 20000; ++i) absl::StrAppend(&many, "# Adapted from ow/na-", i, "\nx = 1\n");
  EXPECT_EQ(FindOrigins(code::Language::kPython, many, "", Files()).size(), 64u);
  std::string line = "# ";
  while (line.size() < (1 << 20)) line += "adapted and from ";
  EXPECT_EQ(Origins(line), "");
  EXPECT_EQ(Origins("# Adapted from https://" + std::string(5000, 'x') + "\n").size(), 200u);
  std::string verbs;
  while (verbs.size() < (1 << 20)) {
    for (int i = 0; i < 60; ++i) verbs += "adapted from ";
    verbs.insert(verbs.size(), "\n# ");
  }
  EXPECT_EQ(Origins("# " + verbs), "");
  EXPECT_THAT(FindOrigins(code::Language::kC, std::string(1 << 20, '/'), "", Files()), IsEmpty());
}

}  // namespace
}  // namespace kernelmill::validator
