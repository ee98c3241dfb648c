#include "services/compiler/core/tilelang/tilelang_tries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::compiler::tilelang {
namespace {

Tries MakeTries(const std::string& qualname, const std::string& module) {
  v1::Kernel kernel;
  kernel.set_qualname(qualname);
  kernel.set_module(absl::StrCat("import tilelang\n", module));
  const absl::StatusOr<Tries> made = MakeTilelangTries(kernel);
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? *made : Tries();
}

// Returns "n=128 guess:int " of a try, or what is missing.
std::string Format(const Tries& tries, size_t place = 0) {
  if (place >= tries.tries.size()) return "missing " + tries.missing;
  std::string text;
  for (const v1::ConstexprValue& value : tries.tries[place].constexprs()) {
    absl::StrAppend(&text, value.name(), "=", value.value(), " ", value.rule(), " ");
  }
  return text;
}

TEST(TilelangTriesTest, NamesAndAnnotationsTellValues) {
  EXPECT_EQ(
      Format(MakeTries("k",
                       "@tilelang.jit\n"
                       "def k(M, block_M, head_dim, threads, num_stages, dtype, accum_dtype,\n"
                       "      is_causal, scale: float, fast: bool, bias=None):\n"
                       "    pass\n")),
      "M=1024 guess:int block_M=64 guess:int head_dim=128 guess:int threads=128 guess:int "
      "num_stages=2 guess:int dtype='float16' guess:type accum_dtype='float32' guess:type "
      "is_causal=False guess:flag scale=1.0 guess:float fast=False guess:flag ");
}

TEST(TilelangTriesTest, FunctionsAroundTheKernelHaveValuesToo) {
  EXPECT_EQ(Format(MakeTries("outer.k",
                             "def outer(n: int, dtype: str):\n"
                             "    @tilelang.jit\n"
                             "    def k(block: int, n: int):\n"
                             "        pass\n"
                             "    return k\n")),
            "n=1024 guess:int dtype='float16' guess:type block=64 guess:int ");
}

TEST(TilelangTriesTest, AKernelWithoutParametersHasOneTry) {
  EXPECT_EQ(MakeTries("k", "@T.prim_func\ndef k():\n    pass\n").tries.size(), 1);
}

TEST(TilelangTriesTest, WhatNoRuleGivesIsMissing) {
  EXPECT_EQ(Format(MakeTries("k", "@tilelang.jit\ndef k(A: T.Tensor((8,), 'int32')):\n    pass\n")),
            "missing constexpr:A");
  EXPECT_EQ(Format(MakeTries("k", "def k(op_func):\n    pass\n")), "missing constexpr:op_func");
  EXPECT_EQ(Format(MakeTries("k", "x = 1\n")), "missing function");
}

}  // namespace
}  // namespace kernelmill::compiler::tilelang
