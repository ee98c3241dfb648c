#include "services/compiler/core/cutile/tile_tries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::compiler::cutile {
namespace {

Tries MakeTries(const std::string& body, const std::string& launcher = "") {
  v1::Kernel kernel;
  kernel.set_name("k");
  kernel.set_module(absl::StrCat("import cuda.tile as ct\n", body));
  kernel.mutable_launcher()->set_text(launcher);
  const absl::StatusOr<Tries> made = MakeTileTries(kernel);
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? *made : Tries();
}

// Returns "x=array<fp16, 1> guess:float N=64 guess:int" of the first try, or what is missing.
std::string First(const Tries& tries) {
  if (tries.tries.empty()) return "missing " + tries.missing;
  std::string text;
  for (const v1::ArgumentType& argument : tries.tries[0].arguments()) {
    absl::StrAppend(&text, argument.name(), "=", argument.type(), " ", argument.rule(), " ");
  }
  for (const v1::ConstexprValue& value : tries.tries[0].constexprs()) {
    absl::StrAppend(&text, value.name(), "=", value.value(), " ", value.rule(), " ");
  }
  return text;
}

TEST(TileTriesTest, IndicesTellDimensions) {
  EXPECT_EQ(First(MakeTries("@ct.kernel\n"
                            "def k(x, y, z, w, n, N: ct.Constant[int]):\n"
                            "    i = ct.bid(0)\n"
                            "    at = (i, 0, 0)\n"
                            "    t = ct.load(x, index=(i, 0), shape=(1, N))\n"
                            "    u = ct.gather(y, ct.arange(N, dtype=ct.int32) + n)\n"
                            "    ct.store(z, at, t)\n"
                            "    ct.scatter(w, (), u)\n")),
            "x=array<fp16, 2> guess:float y=array<fp16, 1> guess:float z=array<fp16, 3> "
            "guess:float w=array<fp16, 0> guess:float n=i32 guess:int N=64 guess:int ");
}

TEST(TileTriesTest, AHelperTakesAnArrayAsTheKernelDoes) {
  EXPECT_EQ(First(MakeTries("def helper(a, i):\n"
                            "    part = a.slice(axis=0, start=0, stop=i)\n"
                            "    return ct.load(part, (i, 0), shape=(1, 8))\n"
                            "@ct.kernel\n"
                            "def k(x):\n"
                            "    helper(x, ct.bid(0))\n")),
            "x=array<fp16, 2> guess:float ");
}

TEST(TileTriesTest, ConstantsAreReadFromTheLaunch) {
  const std::string kernel =
      "ConstInt = ct.Constant[int]\n"
      "@ct.kernel\n"
      "def k(x, idx, N: ConstInt, HAS_BIAS: ConstInt, FAST: ct.Constant[bool] = True):\n"
      "    ct.scatter(x, ct.gather(idx, 0), 1)\n";
  EXPECT_EQ(First(MakeTries(kernel,
                            "def f(x, i):\n"
                            "    ct.launch(s, (1,), k, (x, i, 2 * 64, 1))\n")),
            "x=array<fp16, 1> guess:float idx=array<i32, 1> name:idx N=128 launch HAS_BIAS=1 "
            "launch FAST=True default ");
  EXPECT_EQ(First(MakeTries(kernel)),
            "x=array<fp16, 1> guess:float idx=array<i32, 1> name:idx N=64 guess:int HAS_BIAS=0 "
            "guess:flag FAST=True default ");
}

TEST(TileTriesTest, NoneIsNoConstant) {
  EXPECT_EQ(First(MakeTries("@ct.kernel\n"
                            "def k(N: ct.Constant[int], M: ct.Constant[int] = None):\n"
                            "    pass\n",
                            "def f():\n"
                            "    ct.launch(stream, (1,), k, (None,))\n")),
            "N=64 guess:int M=64 guess:int ");
}

TEST(TileTriesTest, TheTensorsOfTheLaunchTellElements) {
  EXPECT_EQ(First(MakeTries("@ct.kernel\n"
                            "def k(x, s: float):\n"
                            "    ct.scatter(x, 0, s)\n",
                            "def f():\n"
                            "    x = torch.empty(8, dtype=torch.int64)\n"
                            "    ct.launch(stream, (1,), k, (x, 0.5))\n")),
            "x=array<i64, 1> launch:dtype s=fp32 launch:type ");
}

TEST(TileTriesTest, WhatNothingTellsIsMissing) {
  EXPECT_EQ(First(MakeTries("@ct.kernel\ndef k(x):\n    x.shape\n    ct.foo(x)\n")),
            "missing type:x");
  EXPECT_EQ(First(MakeTries("@ct.kernel\ndef k(D: ct.Constant[ct.DType]):\n    pass\n")),
            "missing constexpr:D");
  EXPECT_EQ(First(MakeTries("k = 1\n")), "missing function");
}

TEST(TileTriesTest, EachTryIsThereOnce) {
  EXPECT_EQ(MakeTries("@ct.kernel\ndef k():\n    pass\n").tries.size(), 1);
  const Tries tries =
      MakeTries("@ct.kernel\ndef k(x, F: ct.Constant[bool]):\n    ct.scatter(x, 0, 1)\n");
  EXPECT_EQ(tries.tries.size(), 5);
  EXPECT_EQ(tries.tries[4].attempt(), 5);
}

}  // namespace
}  // namespace kernelmill::compiler::cutile
