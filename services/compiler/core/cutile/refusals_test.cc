#include "services/compiler/core/cutile/refusals.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill::compiler::cutile {
namespace {

// Returns what is missing after a refusal of k(x, N): "error" if nothing is.
std::string Judge(const std::string& stage, const std::string& message,
                  const std::string& type_rule = "launch:type",
                  const std::string& value_rule = "launch", bool compiles_elsewhere = false) {
  v1::KernelSignature signature;
  signature.add_arguments()->set_name("x");
  signature.mutable_arguments(0)->set_rule(type_rule);
  signature.add_constexprs()->set_name("N");
  signature.mutable_constexprs(0)->set_rule(value_rule);
  v1::CompileResult result;
  result.set_status(v1::COMPILE_STATUS_ERROR);
  result.set_stage(stage);
  result.set_message(message);
  JudgeRefusal(signature, compiles_elsewhere, result);
  return result.status() == v1::COMPILE_STATUS_ERROR ? "error" : result.missing();
}

TEST(RefusalsTest, AGuessIsNeverTheKernelsError) {
  EXPECT_EQ(Judge("frontend", "TileTypeError: no", "guess:float", "guess:int"), "constexpr:N");
  EXPECT_EQ(Judge("frontend", "TileTypeError: no", "name:idx", "launch"), "type:x");
  EXPECT_EQ(Judge("frontend", "TileTypeError: no", "launch:type", "launch:likely"), "constexpr:N");
}

TEST(RefusalsTest, WhatIsReadMakesAnError) {
  EXPECT_EQ(Judge("frontend", "TileTypeError: no"), "error");
  EXPECT_EQ(Judge("assembler", "error: no", "guess:float", "guess:int", true), "error");
  EXPECT_EQ(Judge("frontend", "TypeCheckingError: Module 'cuda.tile' has no attribute 'gone'",
                  "guess:float", "guess:int"),
            "error");
}

TEST(RefusalsTest, WhatTheMachineLacksIsUnknown) {
  EXPECT_EQ(Judge("sandbox", "a system call that is forbidden"), "sandbox");
  EXPECT_EQ(Judge("clock", "no answer in 7200 s"), "clock");
  EXPECT_EQ(Judge("frontend", "k is no kernel of the module"), "function");
  EXPECT_EQ(Judge("frontend", "TypeError: <torch.x, which is not installed>"), "import");
}

}  // namespace
}  // namespace kernelmill::compiler::cutile
