// Which functions are kernels. The forms are those of the reference on real code; CPython's parser
// and the decorators' resolution through the file's imports decide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/dsl/names.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DetectionTest, BareAndCalledJit) {
  EXPECT_THAT(Places(Extract("import triton\n"
                             "@triton.jit\n"
                             "def a(x):\n"
                             "    pass\n"
                             "@triton.jit(do_not_specialize=['n'])\n"
                             "def b(x, n):\n"
                             "    pass\n")),
              ElementsAre("a 2-4", "b 5-7"));
}

TEST(DetectionTest, NamesResolveThroughImports) {
  EXPECT_THAT(Places(Extract("from triton import jit\n@jit\ndef a(): pass\n")),
              ElementsAre("a 2-3"));
  EXPECT_THAT(Places(Extract("from triton import jit as j\n@j()\ndef a(): pass\n")),
              ElementsAre("a 2-3"));
  EXPECT_THAT(Places(Extract("import triton as tr\n@tr.jit\ndef a(): pass\n")),
              ElementsAre("a 2-3"));
  EXPECT_THAT(Places(Extract("import triton.runtime.jit as r\n@r.jit\ndef a(): pass\n")),
              ElementsAre("a 2-3"));
  EXPECT_THAT(Places(Extract("import triton.language\n@triton.jit\ndef a(): pass\n")),
              ElementsAre("a 2-3"));
  EXPECT_THAT(Places(Extract("from triton.runtime.jit import JITFunction\n"
                             "@JITFunction\ndef a(): pass\n")),
              ElementsAre("a 2-3"));
  EXPECT_THAT(Places(Extract("import triton.language as triton\n@triton.jit\ndef a(): pass\n")),
              IsEmpty());
}

TEST(DetectionTest, AnImportAnywhereInTheFileCounts) {
  EXPECT_THAT(Places(Extract("@jit\ndef a(): pass\n"
                             "def f():\n    from triton import jit\n")),
              ElementsAre("a 1-2"));
}

TEST(DetectionTest, TheDeeperImportWinsThenTheLater) {
  // Breadth first: the import in the function is looked at after both of the module.
  EXPECT_THAT(Places(Extract("def f():\n    from triton import jit\n"
                             "from numba import jit\n@jit\ndef a(): pass\n")),
              ElementsAre("a 4-5"));
  EXPECT_THAT(Places(Extract("from triton import jit\nfrom numba import jit\n"
                             "@jit\ndef a(): pass\n")),
              IsEmpty());
  EXPECT_THAT(Places(Extract("try:\n    from triton import jit\n"
                             "except ImportError:\n    from numba import jit\n"
                             "@jit\ndef a(): pass\n")),
              IsEmpty());
  // An elif is deeper than the statements in the if before it, and as deep as an if in its else.
  EXPECT_THAT(Places(Extract("if x:\n    if y:\n        from triton import jit\n"
                             "elif z:\n    from numba import jit\n"
                             "else:\n    from torch import jit\n"
                             "@jit\ndef a(): pass\n")),
              IsEmpty());
  EXPECT_THAT(Places(Extract("if x:\n    if y:\n        from triton import jit\n"
                             "else:\n    from torch import jit\n"
                             "@jit\ndef a(): pass\n")),
              ElementsAre("a 6-7"));
}

TEST(DetectionTest, RelativeAndWildcardImportsBindNothing) {
  EXPECT_THAT(Places(Extract("from .triton import jit\n@jit\ndef a(): pass\n")), IsEmpty());
  EXPECT_THAT(Places(Extract("from . import triton as t\n@t.jit\ndef a(): pass\n")), IsEmpty());
  EXPECT_THAT(Places(Extract("from triton import *\n@jit\ndef a(): pass\n")), IsEmpty());
  EXPECT_THAT(Places(Extract("@triton.jit\ndef a(): pass\n")), ElementsAre("a 1-2"));
}

TEST(DetectionTest, StacksOfDecorators) {
  const v1::KernelShard shard = Extract(
      "import triton\n"
      "@libentry()\n"
      "@triton.autotune(configs=[\n"
      "    triton.Config({'B': b}) for b in (1, 2)], key=['n'])\n"
      "@triton.heuristics({'E': lambda a: a['n'] % 2 == 0})\n"
      "# a comment between\n"
      "@fla_cache_autotune(key=[])\n"
      "@triton.jit\n"
      "def a(x, n):\n"
      "    pass\n");
  EXPECT_THAT(Places(shard), ElementsAre("a 2-10"));
  EXPECT_EQ(shard.kernels(0).decorators_size(), 5);
  EXPECT_EQ(shard.kernels(0).decorators(0), "libentry()");
  EXPECT_EQ(shard.kernels(0).decorators(4), "triton.jit");
}

TEST(DetectionTest, JitNeedNotBeTheInnermost) {
  EXPECT_THAT(Places(Extract("import triton\n@triton.jit\n@wrap\ndef a(): pass\n"
                             "@pointwise_dynamic(promotion_methods=[(0, 'D')])\n"
                             "@triton.jit\ndef b(x):\n    return x\n")),
              ElementsAre("a 2-4", "b 5-8"));
}

TEST(DetectionTest, Gluon) {
  const v1::KernelShard shard = Extract(
      "from triton.experimental import gluon\n"
      "import triton\n"
      "@gluon.jit\ndef a(): pass\n"
      "@gluon.constexpr_function\ndef b(): pass\n"
      "@triton.jit\ndef c(): pass\n");
  EXPECT_THAT(Places(shard), ElementsAre("a 3-4", "c 7-8"));
  EXPECT_EQ(shard.kernels(0).dsl(), dsl::kGluon);
  EXPECT_EQ(shard.kernels(1).dsl(), dsl::kTriton);
}

TEST(DetectionTest, AtAnyNesting) {
  EXPECT_THAT(
      Places(Extract("import triton\n"
                     "class C:\n"
                     "    class D:\n"
                     "        @staticmethod\n"
                     "        @triton.jit\n"
                     "        def m(x):\n"
                     "            pass\n"
                     "if True:\n"
                     "    try:\n"
                     "        with x:\n"
                     "            for i in y:\n"
                     "                @triton.jit\n"
                     "                def k(): pass\n"
                     "    except E:\n"
                     "        @triton.jit\n"
                     "        async def k(): pass\n"
                     "def f():\n"
                     "    @triton.jit\n"
                     "    def inner():\n"
                     "        @triton.jit\n"
                     "        def innermost(): pass\n")),
      ElementsAre("C.D.m 4-7", "k 12-13", "k 15-16", "f.inner 18-21", "f.inner.innermost 20-21"));
}

TEST(DetectionTest, OneNameManyTimesIsKeptEachTime) {
  EXPECT_THAT(Places(Extract("import triton\n"
                             "if A:\n    @triton.jit\n    def k(): pass\n"
                             "else:\n    @triton.jit\n    def k(): pass\n")),
              ElementsAre("k 3-4", "k 6-7"));
}

TEST(DetectionTest, LookAlikesInTextAreNone) {
  EXPECT_THAT(Places(Extract("import triton\n"
                             "'''\n@triton.jit\ndef a():\n    pass\n'''\n"
                             "# @triton.jit\n# def b(): pass\n"
                             "S = \"\"\"\n@triton.jit\ndef c(): pass\n\"\"\"\n"
                             "def f():\n"
                             "    r'''Sample:\n\n"
                             "@triton.jit\n"
                             "def d(): pass\n"
                             "    '''\n"
                             "F = f'''\n@triton.jit\ndef {name}(): pass\n'''\n"
                             "other_compile.triton('e', '''\n@triton.jit\ndef e(): pass\n''')\n")),
              IsEmpty());
}

TEST(DetectionTest, OtherJitsAreNone) {
  EXPECT_THAT(Places(Extract("import triton, numba, jax, torch, cute\n"
                             "from functools import partial\n"
                             "@numba.jit\ndef a(): pass\n"
                             "@jax.jit\ndef b(): pass\n"
                             "@torch.jit.script\ndef c(): pass\n"
                             "@conditional_jit\ndef d(): pass\n"
                             "@cute.jit\ndef e(): pass\n"
                             "@triton.autotune([])\ndef f(): pass\n"
                             "@partial(numba.jit)\ndef g(): pass\n"
                             "@triton.jit.x\ndef h(): pass\n"
                             "@triton.jit()()\ndef i(): pass\n"
                             "@triton['jit']\ndef j(): pass\n"
                             "@triton.jit\nclass L: pass\n")),
              IsEmpty());
}

TEST(DetectionTest, ParenthesesInDecoratorsDoNotMatter) {
  EXPECT_THAT(Places(Extract("import triton\n"
                             "@(triton.jit)\ndef a(): pass\n"
                             "@(triton).jit()\ndef b(): pass\n"
                             "@triton . jit\ndef c(): pass\n")),
              ElementsAre("a 2-3", "b 4-5", "c 6-7"));
}

TEST(DetectionTest, TheSpanBeginsWithTheDecoratorsExpressionAsCPythonSees) {
  EXPECT_THAT(Places(Extract("import triton\n@(\n  triton.jit\n)\ndef a(): pass\n"
                             "@\\\ntriton.jit\ndef b(): pass\n"
                             "@(triton\n.jit)\ndef c(): pass\n")),
              ElementsAre("a 3-5", "b 7-8", "c 9-11"));
}

TEST(DetectionTest, BrokenFilesStillYieldTheirKernels) {
  const std::string kernel = "@triton.jit\ndef a(x):\n    return x\n";
  for (const std::string broken :
       {"x = foo(1, 2\n", "<<<<<<< HEAD\n", "this is no python at all\n", "}\n",
        "{{ kernel 'A' }}\n", "def broken(:\n", "x = 'abc\n", "def f(a, b\n", "a b c = \n"}) {
    const v1::KernelShard shard = Extract("import triton\n" + kernel + broken + kernel);
    EXPECT_THAT(Places(shard), ElementsAre("a 2-4", "a 6-8")) << broken;
    EXPECT_TRUE(shard.files(0).parse_errors()) << broken;
    for (const v1::Kernel& found : shard.kernels()) {
      EXPECT_EQ(found.source(), kernel) << broken;
      EXPECT_FALSE(found.parse_error()) << broken;
    }
  }
}

TEST(DetectionTest, Python2IsRead) {
  EXPECT_THAT(Places(Extract("import triton\nprint 'x', y\nexec 'code'\nraise E, 'x'\n"
                             "try:\n    pass\nexcept E, e:\n    pass\n"
                             "@triton.jit\ndef a(): pass\n")),
              ElementsAre("a 9-10"));
}

TEST(DetectionTest, AnErrorWithinAKernelMarksIt) {
  const v1::KernelShard shard = Extract(
      "import triton\n@triton.jit\ndef a(x):\n    y = = x\n    return x\n"
      "@triton.jit\ndef b(x):\n    return x\n");
  EXPECT_THAT(Places(shard), ElementsAre("a 2-5", "b 6-8"));
  EXPECT_TRUE(shard.kernels(0).parse_error());
  EXPECT_FALSE(shard.kernels(1).parse_error());
}

TEST(DetectionTest, AKernelWithABracketLeftOpenIsMarked) {
  const v1::KernelShard shard = Extract(
      "import triton\n@triton.jit\ndef a(x):\n    y = (x, 1\n    return x\n"
      "@triton.jit\ndef b(x):\n    return x\n");
  EXPECT_THAT(Places(shard), ElementsAre("a 2-5", "b 6-8"));
  EXPECT_TRUE(shard.kernels(0).parse_error());
  EXPECT_FALSE(shard.kernels(1).parse_error());
}

TEST(DetectionTest, NewSyntaxIsRead) {
  EXPECT_THAT(Places(Extract("import triton\n"
                             "match x:\n    case {'a': [1, *_]} if y:\n        pass\n"
                             "if (n := 1) > 0: pass\n"
                             "print(f\"{x!r:>{w}} {d[\"k\"]}\")\n"
                             "with (a as b, c as d): pass\n"
                             "try: pass\nexcept* E: pass\n"
                             "type X = int\n"
                             "@triton.jit\ndef a[T](x: T, /, *, y): pass\n")),
              ElementsAre("a 11-12"));
}

TEST(DetectionTest, FilesWithoutAMarkerAreListedAndNotParsed) {
  const v1::KernelShard shard = Extract("def broken(:\n");
  ASSERT_EQ(shard.files_size(), 1);
  EXPECT_EQ(shard.files(0).lines(), 1);
  EXPECT_EQ(shard.files(0).size_bytes(), 13);
  EXPECT_FALSE(shard.files(0).parse_errors());
  EXPECT_THAT(shard.kernels(), IsEmpty());
}

}  // namespace
}  // namespace kernelmill::extractor
