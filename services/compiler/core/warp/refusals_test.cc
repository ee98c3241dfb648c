#include "services/compiler/core/warp/refusals.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill::compiler::warp {
namespace {

// Returns what is missing after a refusal: "error" if nothing is.
std::string Judge(const std::string& stage, const std::string& message) {
  v1::CompileResult result;
  result.set_status(v1::COMPILE_STATUS_ERROR);
  result.set_stage(stage);
  result.set_message(message);
  JudgeRefusal(result);
  return result.status() == v1::COMPILE_STATUS_ERROR ? "error" : result.missing();
}

TEST(RefusalsTest, WhatTheModuleDoesNotSayIsUnknown) {
  EXPECT_EQ(Judge("frontend", "no type for x"), "type:x");
  EXPECT_EQ(Judge("frontend", "k is no kernel of the module"), "function");
  EXPECT_EQ(Judge("frontend", "TypeError: <torch.x, which is not installed>"), "import");
}

TEST(RefusalsTest, WhatTheMachineCausedIsUnknown) {
  EXPECT_EQ(Judge("sandbox", "a system call that is forbidden"), "sandbox");
  EXPECT_EQ(Judge("clock", "no answer in 7200 s"), "clock");
  EXPECT_EQ(Judge("frontend", "RuntimeError: tile_fft() needs MathDx"), "library");
}

TEST(RefusalsTest, WhatTheCompilerRefusesIsAnError) {
  EXPECT_EQ(Judge("frontend", "WarpCodegenKeyError: Referencing undefined symbol: y"), "error");
  EXPECT_EQ(Judge("assembler", "ptxas error: too much shared data"), "error");
  EXPECT_EQ(Judge("limit", "not enough memory"), "error");
}

}  // namespace
}  // namespace kernelmill::compiler::warp
