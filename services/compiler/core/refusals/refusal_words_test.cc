#include "services/compiler/core/refusals/refusal_words.h"

#include <gtest/gtest.h>

#include <string>

#include "services/compiler/core/refusals/harness_words.h"

namespace kernelmill::compiler {
namespace {

constexpr RefusalWords::Missing kMissing[] = {{"MathDx", "library"}};
constexpr absl::string_view kNeverTaken[] = {"has no attribute"};
constexpr RefusalWords kWords = {.package = {}, .missing = kMissing, .never_taken = kNeverTaken};

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
  JudgeRefusal(kWords, signature, compiles_elsewhere, result);
  return result.status() == v1::COMPILE_STATUS_ERROR ? "error" : result.missing();
}

TEST(RefusalWordsTest, AGuessIsNeverTheKernelsError) {
  EXPECT_EQ(Judge("frontend", "TileTypeError: no", "guess:float", "guess:int"), "constexpr:N");
  EXPECT_EQ(Judge("frontend", "TileTypeError: no", "name:idx", "launch"), "type:x");
  EXPECT_EQ(Judge("frontend", "TileTypeError: no", "launch:type", "launch:likely"), "constexpr:N");
}

TEST(RefusalWordsTest, WhatIsReadMakesAnError) {
  EXPECT_EQ(Judge("frontend", "TileTypeError: no"), "error");
  EXPECT_EQ(Judge("assembler", "ptxas error: too much shared data"), "error");
  EXPECT_EQ(Judge("limit", "not enough memory"), "error");
  EXPECT_EQ(Judge("assembler", "error: no", "guess:float", "guess:int", true), "error");
  EXPECT_EQ(Judge("frontend", "Module 'cuda.tile' has no attribute 'gone'", "guess:float"),
            "error");
}

TEST(RefusalWordsTest, WhatTheMachineOrTheModuleLacksIsUnknown) {
  EXPECT_EQ(Judge("sandbox", "a system call that is forbidden"), "sandbox");
  EXPECT_EQ(Judge("clock", "no answer in 7200 s"), "clock");
  EXPECT_EQ(Judge("frontend", "k is no kernel of the module"), "function");
  EXPECT_EQ(Judge("frontend", "no type for x"), "type:x");
  EXPECT_EQ(Judge("frontend", "no value for N: NameError: B"), "constexpr:N");
  EXPECT_EQ(Judge("frontend", "TypeError: <torch.x, which is not installed>"), "import");
  EXPECT_EQ(Judge("frontend", "RuntimeError: tile_fft() needs MathDx"), "library");
}

TEST(HarnessWordsTest, TheStageOfAnImportDecidesWhoIsToBlame) {
  v1::CompileResult result;
  result.set_status(v1::COMPILE_STATUS_ERROR);
  EXPECT_FALSE(JudgeStageOfImport("NameError: clock: ", result));
  EXPECT_TRUE(JudgeStageOfImport("limit: not enough memory", result));
  EXPECT_EQ(result.stage(), "limit");
  EXPECT_EQ(result.status(), v1::COMPILE_STATUS_ERROR);
  EXPECT_TRUE(JudgeStageOfImport("sandbox: a system call that is forbidden", result));
  EXPECT_EQ(result.missing(), "import:sandbox");
  EXPECT_TRUE(JudgeStageOfImport("clock: no answer", result));
  EXPECT_EQ(result.missing(), "import:clock");
}

}  // namespace
}  // namespace kernelmill::compiler
