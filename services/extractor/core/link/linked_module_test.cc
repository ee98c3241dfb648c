// Modules of whole files: extraction and linking together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/python/parse/python_parser.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/extract/extract.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {

using python::StandardParser;

namespace {

TEST(LinkedModuleTest, HoldsWhatTheKernelUsesAndNothingElse) {
  const v1::KernelShard shard = ExtractAndLink(
      "from __future__ import annotations\n"
      "import os\n"
      "import triton\n"
      "import triton.language as tl; import torch\n"
      "import numpy as np\n"
      "A = 1\n"
      "A += 1\n"
      "UNUSED = np.zeros(3)\n"
      "@triton.jit\n"
      "def second(x):\n"
      "    return x * A\n"
      "@triton.jit\n"
      "def k(x):\n"
      "    tl.store(x, first(x))\n"
      "@triton.jit\n"
      "def first(x):\n"
      "    return second(x)\n"
      "def launch(): k[(1,)](os)\n");
  ASSERT_EQ(shard.kernels_size(), 3);
  EXPECT_EQ(shard.kernels(1).module(),
            "from __future__ import annotations\n"
            "import triton\n"
            "import triton.language as tl; import torch\n"
            "\nA = 1\n\nA += 1\n"
            "\n@triton.jit\ndef second(x):\n    return x * A\n"
            "\n@triton.jit\ndef first(x):\n    return second(x)\n"
            "\n@triton.jit\ndef k(x):\n    tl.store(x, first(x))\n");
  EXPECT_TRUE(shard.kernels(1).self_contained());
}

TEST(LinkedModuleTest, WhatDoesNotParseDoesNotStandAlone) {
  const v1::KernelShard shard =
      ExtractAndLink("import triton\n@triton.jit\ndef k(x, ...):\n    return x\n");
  ASSERT_EQ(shard.kernels_size(), 1);
  EXPECT_TRUE(shard.kernels(0).parse_error());
  EXPECT_FALSE(shard.kernels(0).self_contained());
}

TEST(LinkedModuleTest, AWholeIfOrTryIsOneDefinition) {
  const v1::KernelShard shard = ExtractAndLink(
      "import triton\n"
      "try:\n    import fast\n    N = 1\nexcept ImportError:\n    N = 2\n"
      "@triton.jit\ndef k(): return N\n");
  ASSERT_EQ(shard.kernels_size(), 1);
  EXPECT_EQ(shard.kernels(0).module(),
            "import triton\n\n"
            "try:\n    import fast\n    N = 1\nexcept ImportError:\n    N = 2\n\n"
            "@triton.jit\ndef k(): return N\n");
  EXPECT_TRUE(shard.kernels(0).self_contained());  // without fast the handler runs
}

TEST(LinkedModuleTest, AnIfUsesWhatStatementsBeforeItBind) {
  const std::string settings =
      "DEVICE = 'cpu'\n"
      "if fast():\n"
      "    if DEVICE == 'cpu':\n"
      "        DEVICE = 'cuda'\n"
      "    N = len(DEVICE)\n"
      "else:\n"
      "    N = 1\n";
  const v1::KernelShard shard = ExtractAndLink(
      {{"k.py", "import triton\nfrom m import N\n@triton.jit\ndef k(): return N\n"},
       {"m.py", "def fast(): return True\n" + settings},
       {"own.py", "import triton\n" + settings + "@triton.jit\ndef own(): return N\n"}});
  ASSERT_EQ(shard.kernels_size(), 2);
  EXPECT_THAT(shard.kernels(0).module(), ::testing::HasSubstr("\nDEVICE = 'cpu'\n\nif fast():"));
  EXPECT_THAT(shard.kernels(1).module(), ::testing::HasSubstr("\nDEVICE = 'cpu'\n\nif fast():"));
}

TEST(LinkedModuleTest, ABlockThatHoldsKernelsIsTakenApart) {
  const v1::KernelShard shard = ExtractAndLink(
      "if available():\n"
      "    import triton\n"
      "    B = 64\n"
      "    @triton.jit\n"
      "    def k(): return B\n"
      "else:\n"
      "    B = 1\n");
  ASSERT_EQ(shard.kernels_size(), 1);
  EXPECT_EQ(shard.kernels(0).module(),
            "import triton\n\nB = 64\n\n@triton.jit\ndef k(): return B\n");
}

TEST(LinkedModuleTest, ImportsOfTheFunctionAroundCount) {
  const v1::KernelShard shard = ExtractAndLink(
      "def make():\n"
      "    import triton\n"
      "    captured = 1\n"
      "    @triton.jit\n"
      "    def k(): return captured\n"
      "    return k\n");
  ASSERT_EQ(shard.kernels_size(), 1);
  EXPECT_EQ(shard.kernels(0).module(), "import triton\n\n@triton.jit\ndef k(): return captured\n");
  EXPECT_THAT(shard.kernels(0).free_names(), ::testing::ElementsAre("captured"));
}

TEST(LinkedModuleTest, OddDecoratorLayoutsStayWhole) {
  const v1::KernelShard shard =
      ExtractAndLink("import triton\n@(\n  triton.jit\n)\ndef k(): pass\n");
  ASSERT_EQ(shard.kernels_size(), 1);
  EXPECT_EQ(shard.kernels(0).source(), "  triton.jit\n)\ndef k(): pass\n");
  EXPECT_EQ(shard.kernels(0).module(), "import triton\n\n@(\n  triton.jit\n)\ndef k(): pass\n");
}

TEST(LinkedModuleTest, WhatComesWithALanguageIsNotTakenFromItsRepository) {
  const std::string package = "python/cutlass/";
  const v1::KernelShard shard = ExtractAndLink(
      {{package + "__init__.py", ""},
       {package + "cute/__init__.py", "from ..base import kernel\ndef load(x): return open(x)\n"},
       {package + "utils.py", "from . import missing\ndef size(x): return missing.size(x)\n"},
       {"examples/common.py", "LIMIT = 3\n"},
       {"examples/a.py",
        "import cutlass.cute as cute\nfrom cutlass.utils import size\nfrom common import LIMIT\n"
        "@cute.kernel\ndef k(x): return size(cute.load(x)) + LIMIT\n"}},
      {"cute"});
  const v1::Kernel& kernel = FindKernel(shard, "k");
  EXPECT_EQ(kernel.module(),
            "import cutlass.cute as cute\nfrom cutlass.utils import size\n\nLIMIT = 3\n\n"
            "@cute.kernel\ndef k(x): return size(cute.load(x)) + LIMIT\n");
  EXPECT_TRUE(kernel.self_contained());
}

TEST(LinkedModuleTest, AMethodThatNeedsItsObjectHasItsClass) {
  const std::string file =
      "import cutlass.cute as cute\nfrom b import LIMIT\nfrom elsewhere import Base\nUNUSED = 1\n"
      "SIZE = 4\n"
      "class Norm:\n"
      "    size = SIZE\n"
      "    @cute.kernel\n    def kernel(self, x): return Norm.scale(x, self.size)\n"
      "    @staticmethod\n    def scale(x, n): return min(x * n, LIMIT)\n"
      "    @cute.jit\n    def free(self, x): return x\n"
      "    long = \"" +
      std::string(40 << 10, '#') +
      "\"\n"
      "class Other(Base):\n"
      "    @cute.kernel\n    def other(self, x): return x + self.n\n"
      "def make():\n"
      "    class Inner:\n"
      "        @cute.kernel\n        def inner(self, x): return x + self.n\n"
      "    return Inner\n";
  const v1::KernelShard shard = ExtractAndLink({{"a.py", file}, {"b.py", "LIMIT = 9\n"}}, {"cute"});
  const v1::Kernel& kernel = FindKernel(shard, "kernel");
  const size_t begin = file.find("class Norm");
  EXPECT_EQ(kernel.module(),
            absl::StrCat("import cutlass.cute as cute\n\nLIMIT = 9\n\nSIZE = 4\n\n",
                         file.substr(begin, file.find("class Other") - begin)));
  EXPECT_TRUE(kernel.self_contained());
  EXPECT_EQ(kernel.pieces(kernel.pieces_size() - 1).kind(), v1::Definition::KIND_CLASS);
  EXPECT_EQ(kernel.pieces(kernel.pieces_size() - 1).first_line(), 6);
  // One that does not read its object needs no class.
  EXPECT_EQ(FindKernel(shard, "free").module(),
            "import cutlass.cute as cute\n\n@cute.jit\ndef free(self, x): return x\n");
  EXPECT_THAT(Unresolved(FindKernel(shard, "other")),
              testing::ElementsAre("elsewhere package_import"));
  EXPECT_THAT(FindKernel(shard, "inner").module(), testing::HasSubstr("\ndef make():\n"));
  EXPECT_THAT(Unresolved(FindKernel(shard, "inner")), testing::IsEmpty());
}

TEST(LinkedModuleTest, AFunctionThatNeedsVariablesOfAnotherHasItsDefinition) {
  const std::string factory =
      "def matmul(M, block_M=BLOCK):\n"
      "    dtype = \"float16\"\n"
      "    @T.prim_func\n"
      "    def main(A: T.Tensor((M,), dtype)):\n"
      "        with T.Kernel(M // block_M): pass\n"
      "    return main\n";
  const v1::KernelShard shard = ExtractAndLink(
      {{"a.py", absl::StrCat("import tilelang.language as T\nBLOCK = 4\n", factory)}},
      {"tilelang"});
  const v1::Kernel& kernel = FindKernel(shard, "main");
  EXPECT_EQ(kernel.module(),
            absl::StrCat("import tilelang.language as T\n\nBLOCK = 4\n\n", factory));
  EXPECT_TRUE(kernel.self_contained());
}

TEST(LinkedModuleTest, TheSameFilesGiveTheSameBytesInAnyOrder) {
  const std::string text =
      "import triton\nfrom m import a, b, c\nD = {'x': a, 'y': b}\n"
      "@triton.jit\ndef k(): return D, c\n"
      "@triton.jit\ndef l(): return k(), a\n";
  v1::FileShard forward;
  for (const char* path : {"a.py", "b.py", "c.py"}) {
    v1::SourceFile& file = *forward.add_files();
    file.set_path(path);
    file.set_content(text);
  }
  v1::FileShard backward;
  for (int i = forward.files_size(); i-- > 0;) *backward.add_files() = forward.files(i);
  const StandardParser parser;
  std::string bytes[2];
  for (int i = 0; i < 2; ++i) {
    auto shard = ExtractKernels(i == 0 ? forward : backward, parser);
    ASSERT_TRUE(shard.ok());
    shard = Link(*shard);
    ASSERT_TRUE(shard->SerializeToString(&bytes[i]));
    ASSERT_EQ(shard->kernels_size(), 6);
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

// The time for one definition, or one import, with many names is linear in the names: each of these
// took minutes.
TEST(LinkedModuleTest, ManyStatementsOnALineAndManyNamesOfAnImport) {
  std::string line;
  std::string import = "from .x import (a";
  std::string body;
  for (int i = 0; i < 100'000; ++i) {
    line += "x = 1; ";
    absl::StrAppend(&import, ", a", i);
    absl::StrAppend(&body, "    a", i, "\n");
  }
  const v1::KernelShard shard = ExtractAndLink(
      absl::StrCat("import triton\n", line, "\n", import, ")\n@triton.jit\ndef k():\n", body));
  ASSERT_EQ(shard.kernels_size(), 1);
  EXPECT_EQ(shard.kernels(0).free_names_size(), 100'000);
}

}  // namespace
}  // namespace kernelmill::extractor
