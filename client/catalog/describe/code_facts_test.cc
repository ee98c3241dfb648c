#include "client/catalog/describe/code_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/dsl/names.h"

namespace kernelmill::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

v1::KernelRow Kernel(std::string source, std::string launcher = "") {
  v1::KernelRow kernel;
  kernel.set_dsl(dsl::kTriton);
  kernel.set_name("k");
  kernel.set_source(std::move(source));
  if (!launcher.empty()) kernel.mutable_launcher()->set_text(std::move(launcher));
  return kernel;
}

TEST(CodeFacts, AreReadFromTheKernelsText) {
  const CodeFacts facts = ReadCodeFacts(Kernel(R"(@triton.jit
def k(x, y, n, BLOCK: tl.constexpr):
    # Adds what is there,
    # block by block.
    pid = tl.program_id(axis=0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(0, n, BLOCK):
        acc += tl.load(x + i).to(tl.float32)
    tl.store(y, acc.to(y.dtype.element_ty))
    float16 = 1
)"));
  EXPECT_THAT(facts.program_axes, ElementsAre("0"));
  EXPECT_THAT(facts.accumulators, ElementsAre("float32"));
  EXPECT_THAT(facts.loops, ElementsAre("range(0, n, BLOCK)"));
  EXPECT_THAT(facts.dtypes, ElementsAre("float32"));
  EXPECT_THAT(facts.store_casts, ElementsAre("y"));
  EXPECT_EQ(facts.comment, "Adds what is there, block by block.");
}

TEST(CodeFacts, ACommentOfTheFirstStatementIsNoneOfTheKernel) {
  EXPECT_EQ(ReadCodeFacts(Kernel("def k(x):\n    # set the offset\n    y = 1\n")).comment, "");
  EXPECT_EQ(ReadCodeFacts(Kernel("def k(x):\n    # Adds rows.\n\n    y = 1\n")).comment,
            "Adds rows.");
}

TEST(CodeFacts, WhatABodyOfOneStatementReturnsIsQuoted) {
  EXPECT_EQ(
      ReadCodeFacts(
          Kernel("@jit\ndef k(x, y):\n    \"\"\"Doc.\"\"\"\n    return y - x * (\n        2)\n"))
          .returned,
      "y - x * (2)");
  EXPECT_EQ(ReadCodeFacts(Kernel("def k(x):\n    y = 1\n    return y\n")).returned, "");
}

TEST(CodeFacts, TheGridIsTheLaunchsOwnOrWhatItsNameIsSetTo) {
  EXPECT_EQ(ReadCodeFacts(Kernel("x", "def f(a):\n    k[(a.shape[0], 2)](a)\n")).grid,
            "(a.shape[0], 2)");
  EXPECT_EQ(ReadCodeFacts(Kernel("x",
                                 "def f(a):\n    grid = lambda M: (triton.cdiv(n, M['B']),)\n"
                                 "    k[grid](a)\n"))
                .grid,
            "lambda M: (triton.cdiv(n, M['B']),)");
  EXPECT_EQ(ReadCodeFacts(Kernel("x",
                                 "def f(a):\n    def grid(M):\n        return (M['B'],)\n"
                                 "    k[grid](a)\n"))
                .grid,
            "(M['B'],)");
  // Set twice, so that the text does not tell which.
  EXPECT_EQ(ReadCodeFacts(Kernel("x",
                                 "def f(a):\n    grid = (1,)\n    if a:\n        grid = (2,)\n"
                                 "    k[grid](a)\n"))
                .grid,
            "");
}

TEST(CodeFacts, WhatTheLauncherAsksForIsQuoted) {
  const CodeFacts facts = ReadCodeFacts(Kernel("x", R"(def f(x):
    """Normalizes rows."""
    assert x.is_contiguous(), "must be"
    M, N = x.shape
    MAX = 65536 // x.element_size()
    BLOCK_N = min(MAX, triton.next_power_of_2(N))
    if N > BLOCK_N:
        raise RuntimeError("too long")
    k[(M,)](x)
)"));
  EXPECT_THAT(facts.requirements, ElementsAre("x.is_contiguous()"));
  EXPECT_THAT(facts.refusals, ElementsAre("N > BLOCK_N"));
  EXPECT_THAT(facts.bounds, ElementsAre("BLOCK_N = min(MAX, triton.next_power_of_2(N))",
                                        "MAX = 65536 // x.element_size()"));
  EXPECT_EQ(facts.launcher_docstring, "Normalizes rows.");
}

TEST(CodeFacts, OfBrokenTextAreFewAndNothingElse) {
  const CodeFacts facts = ReadCodeFacts(Kernel("def k(((\n  tl.program_id(", "k[grid"));
  EXPECT_THAT(facts.loops, IsEmpty());
  EXPECT_EQ(facts.grid, "");
}

TEST(CodeFacts, OfCudaAreItsTypes) {
  v1::KernelRow kernel = Kernel("__global__ void k(const __half* x, float* y) {}");
  kernel.set_dsl(dsl::kCuda);
  EXPECT_THAT(ReadCodeFacts(kernel).dtypes, ElementsAre("float16", "float32"));
}

}  // namespace
}  // namespace kernelmill::client
