#include "services/compiler/core/pallas/pallas_tries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::compiler::pallas {
namespace {

Tries MakeTries(const std::string& launcher) {
  v1::Kernel kernel;
  kernel.set_name("k");
  kernel.set_module("def k(x_ref, o_ref):\n  o_ref[...] = x_ref[...]\n");
  kernel.mutable_launcher()->set_qualname("Test.host");
  kernel.mutable_launcher()->set_text(launcher);
  const absl::StatusOr<Tries> made = MakePallasTries(kernel);
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? *made : Tries();
}

// Returns "x=tensor<fp32[128]> guess:float n=128 guess:int " of a try, or what is missing.
std::string Format(const Tries& tries, size_t place = 0) {
  if (place >= tries.tries.size()) return "missing " + tries.missing;
  std::string text;
  for (const v1::ArgumentType& argument : tries.tries[place].arguments()) {
    absl::StrAppend(&text, argument.name(), "=", argument.type(), " ", argument.rule(), " ");
  }
  for (const v1::ConstexprValue& value : tries.tries[place].constexprs()) {
    absl::StrAppend(&text, value.name(), "=", value.value(), " ", value.rule(), " ");
  }
  return text;
}

TEST(PallasTriesTest, ALauncherOfArraysHasTheirDimensions) {
  EXPECT_EQ(Format(MakeTries("@jax.jit\n"
                             "def host(x, y: Float[Array, 'm n'], lengths: jax.Array, scale=1.0):\n"
                             "  b, m, n = x.shape\n"
                             "  return pl.pallas_call(k, out_shape=y)(x, y, lengths)\n")),
            "x=tensor<fp32[128, 128, 128]> guess:float y=tensor<fp32[128, 128]> guess:float "
            "lengths=tensor<i32[128]> guess:float ");
}

TEST(PallasTriesTest, ConstantsAreOfTheirAnnotations) {
  EXPECT_EQ(Format(MakeTries("def host(*, n: int, eps: float, causal: bool, out_dtype,\n"
                             "         bias: jax.Array | None, block_m: int = 8):\n"
                             "  return 1\n")),
            "n=128 guess:int eps=1.0 guess:float causal=False guess:flag "
            "out_dtype=jnp.float32 guess:type bias=None guess:none ");
}

TEST(PallasTriesTest, ATestSaysItsValues) {
  const Tries tries = MakeTries(
      "  @jtu.parameterized.product(wait=[False, True], dtype=[jnp.int8, jnp.bfloat16])\n"
      "  def host(self, wait, dtype):\n"
      "    pl.pallas_call(k)()\n");
  EXPECT_EQ(Format(tries), "wait=False launch:likely dtype=jnp.int8 launch:likely ");
  EXPECT_EQ(Format(tries, 1), "wait=True launch:likely dtype=jnp.bfloat16 launch:likely ");
  EXPECT_EQ(tries.tries.size(), 2);
}

TEST(PallasTriesTest, ATestWithoutParametersHasOneTry) {
  EXPECT_EQ(MakeTries("  def host(self):\n    pl.pallas_call(k)()\n").tries.size(), 1);
}

TEST(PallasTriesTest, WhatNoRuleGivesIsMissing) {
  EXPECT_EQ(Format(MakeTries("def host(x, config: Config):\n  pass\n")),
            "missing constexpr:config");
  EXPECT_EQ(Format(MakeTries("k = 1\n")), "missing launcher");
  EXPECT_EQ(Format(MakeTries("")), "missing launcher");
}

}  // namespace
}  // namespace kernelmill::compiler::pallas
