// A test for each rule of rules.h that tells how large a size of tensors is beside others, and of
// the tries whose sizes are small.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/compiler/core/signature/rules.h"
#include "services/compiler/core/signature/rules_testing.h"

namespace kernelmill::compiler {
namespace {

TEST(SizeRulesTest, Reshape) {
  const std::string parameters = "x, n, B: tl.constexpr, G: tl.constexpr";
  const std::vector<std::string> body = {
      "row = x + tl.program_id(0) * n", "v = tl.load(row + tl.arange(0, B)).to(tl.float32)",
      "m = tl.max(tl.abs(tl.reshape(v, [G, 32])), axis=1)", "tl.store(x + tl.arange(0, G), m)"};
  EXPECT_EQ(Told(parameters, body, "G"), "2 usage:reshape");
  EXPECT_EQ(Told(parameters, body, "B"), "64 usage:size");
}

TEST(SizeRulesTest, WhatAHelperReshapesIsAskedOfWhatItIsGiven) {
  v1::Kernel kernel = MakeKernel("x, M: tl.constexpr, N: tl.constexpr, NN: tl.constexpr",
                                 {"f(x, M, N, NN)", "tl.store(x, 1.0)"});
  kernel.set_module(absl::StrCat(
      kImports, "@triton.jit\ndef f(x, A: tl.constexpr, B: tl.constexpr, BB: tl.constexpr):\n",
      "    v = tl.load(x + tl.arange(0, A)[:, None] + tl.arange(0, BB)[None, :])\n",
      "    return tl.sum(v.reshape(A, B, B), axis=2)\n",
      kernel.module().substr(sizeof(kImports) - 1)));
  EXPECT_EQ(Told(kernel, "N"), "64 name:n");
  EXPECT_EQ(Told(kernel, "NN"), "4096 usage:reshape");
}

TEST(SizeRulesTest, WhatIsAssertedToBeEqualIs) {
  const std::string parameters = "x, A: tl.constexpr, B: tl.constexpr";
  const std::vector<std::string> body = {"tl.static_assert(A * 2 == B)",
                                         "tl.store(x + tl.arange(0, A), 1.0)",
                                         "tl.store(x + tl.arange(0, B), 1.0)"};
  EXPECT_EQ(Told(parameters, body, "B"), "128 usage:reshape");
  EXPECT_TRUE(AnyTry(MakeKernel(parameters, body), "B", "64 usage:size"));
}

TEST(SizeRulesTest, ARangeEndsBehindItsBegin) {
  EXPECT_EQ(Told("x, A: tl.constexpr, B: tl.constexpr",
                 {"tl.store(x + tl.arange(0, A), 1.0)", "tl.store(x + tl.arange(A, B), 1.0)"}, "B"),
            "128 usage:reshape");
}

TEST(SizeRulesTest, AQuotientThatShapesAreMadeOfIsAtLeastOne) {
  v1::Kernel kernel = MakeKernel(
      "x, HEADS: tl.constexpr, D: tl.constexpr",
      {"PER: tl.constexpr = HEADS // GROUPS", "tl.store(x + tl.arange(0, PER * D), 1.0)"});
  kernel.set_module("GROUPS = tl.constexpr(128)\n" + kernel.module());
  EXPECT_EQ(Told(kernel, "HEADS"), "128 usage:divided");
}

TEST(SizeRulesTest, ATupleHasThePlacesThatAreAskedFor) {
  const std::vector<std::string> body = {
      "for i in tl.static_range(1, L):", "    tl.store(xs[i] + s[2], 1.0)",
      "tl.store(xs[0] + c[1], tl.load(xs[rank]))"};
  const std::string parameters = "xs, s, c: tl.constexpr, L: tl.constexpr, rank: tl.constexpr";
  EXPECT_EQ(Told(parameters, body, "xs"), "(*fp32, *fp32) usage:tuple");
  EXPECT_EQ(Told(parameters, body, "s"), "(i32, i32, i32) usage:tuple");
  EXPECT_EQ(Told(parameters, body, "c"), "(16, 16) usage:tuple");
  EXPECT_EQ(Told(parameters, body, "rank"), "0 usage:tuple");
}

TEST(SizeRulesTest, WhatIsReshapedStaysAMultiple) {
  EXPECT_EQ(Told("x, A: tl.constexpr, B: tl.constexpr",
                 {"tl.static_assert(B % 32 == 0)", "v = tl.load(x + tl.arange(0, A))",
                  "tl.store(x + tl.arange(0, A), tl.reshape(v, [B, 8]))"},
                 "B"),
            "32 usage:multiple");
}

TEST(SizeRulesTest, SmallSizesAreTriedAtLast) {
  const v1::Kernel kernel =
      MakeKernel("x, BLOCK: tl.constexpr", {"tl.store(x + tl.arange(0, BLOCK), 1.0)"});
  EXPECT_EQ(Told(kernel, "BLOCK"), "64 name:block");
  EXPECT_TRUE(AnyTry(kernel, "BLOCK", "16 guess:small"));
}

TEST(SizeRulesTest, ABoundOfTheHostsIsNoSizeOfATile) {
  const v1::Kernel kernel =
      Launched(MakeKernel("x, B: tl.constexpr", {"tl.store(x + tl.arange(0, B), 1.0)"}),
               "def f(x, n):\n    k[(1,)](x, min(triton.next_power_of_2(n), 1048576))\n");
  EXPECT_EQ(Told(kernel, "B"), "8192 launch:likely");
}

TEST(SizeRulesTest, SeveralSizesThatHeuristicsMakeAreSmaller) {
  v1::Kernel kernel =
      MakeKernel("x, n, A: tl.constexpr, B: tl.constexpr",
                 {"tl.store(x + tl.arange(0, A)[:, None] + tl.arange(0, B)[None, :], 1.0)"});
  kernel.set_source(
      "@triton.heuristics({'A': lambda args: args['n'], 'B': lambda args: args['n']})\n"
      "@triton.jit\ndef k(x, n, A: tl.constexpr, B: tl.constexpr):\n    pass\n");
  EXPECT_THAT(Told(kernel, "A"), ::testing::HasSubstr("'n': 128, "));
  EXPECT_TRUE(GetCertainty("heuristics:small") == Certainty::kGuessed);
}

}  // namespace
}  // namespace kernelmill::compiler
