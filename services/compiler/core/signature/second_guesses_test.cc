#include "services/compiler/core/signature/second_guesses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/compiler/core/signature/infer.h"
#include "services/compiler/core/signature/rules_testing.h"

namespace kernelmill::compiler {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kFirstLine = 5;  // the body's, in the modules of MakeKernel

// The changed values of each second guess after a refusal of the first try: "MODE=2", "A=1 B=2".
std::vector<std::string> Guesses(const v1::Kernel& kernel, const std::string& message, int line) {
  Inference inference = *Inference::Infer(kernel);
  const size_t first = inference.tries().size();
  inference.GuessAgain(0, {message, line, line});
  std::vector<std::string> guesses;
  for (size_t i = first; i < inference.tries().size(); ++i) {
    const v1::KernelSignature& made = inference.tries()[i];
    EXPECT_EQ(made.attempt(), static_cast<int>(i) + 1);
    std::vector<std::string> changed;
    for (const auto& each : made.constexprs()) {
      if (each.rule() == "guess:second")
        changed.push_back(absl::StrCat(each.name(), "=", each.value()));
    }
    for (const auto& each : made.arguments()) {
      if (each.rule() == "guess:second")
        changed.push_back(absl::StrCat(each.name(), "=", each.type()));
    }
    guesses.push_back(absl::StrJoin(changed, " "));
  }
  return guesses;
}

TEST(SecondGuessesTest, ANameIsBoundByTheConditionsAroundIt) {
  const v1::Kernel kernel =
      MakeKernel("x, MODE: tl.constexpr, FLAG: tl.constexpr",
                 {"if MODE == 1:", "    z = 1.0",
                  "elif MODE == 3:", "    if FLAG:", "        y = 1.0", "tl.store(x, y)"});
  EXPECT_EQ(Guesses(kernel, "NameError('y is not defined')", kFirstLine + 5).front(),
            "MODE=3 FLAG=True");
}

TEST(SecondGuessesTest, ALineUnderAConditionIsAvoided) {
  const v1::Kernel kernel = MakeKernel(
      "x, MODE: tl.constexpr",
      {"if MODE == 1:", "    raise ValueError()", "elif MODE == 3:", "    tl.store(x, 1.0)"});
  EXPECT_EQ(Guesses(kernel, "unsupported AST node type: Raise", kFirstLine + 1).front(), "MODE=3");
}

TEST(SecondGuessesTest, OnlyWhatTheLineIsMadeOfChanges) {
  const v1::Kernel kernel =
      MakeKernel("x, other, N: tl.constexpr, M: tl.constexpr",
                 {"offsets = tl.arange(0, N)", "tl.store(other + tl.arange(0, M), 1.0)",
                  "tl.store(x + offsets, 1.0)"});
  EXPECT_THAT(Guesses(kernel, "ValueError: refused", kFirstLine + 2),
              AllOf(Contains("N=16"), Contains("x=*bf16"), Each(Not(HasSubstr("M="))),
                    Each(Not(HasSubstr("other=")))));
}

TEST(SecondGuessesTest, AMessageAboutShapesChangesSizesAlone) {
  const v1::Kernel kernel =
      MakeKernel("x, N: tl.constexpr", {"tl.store(x + tl.arange(0, N), 1.0)"});
  EXPECT_THAT(Guesses(kernel, "ValueError: arange's range must be a power of 2", kFirstLine),
              AllOf(Contains("N=16"), Contains("N=1"), Each(Not(HasSubstr("x=")))));
}

TEST(SecondGuessesTest, AnAssertionOfATypeIsMadeTrue) {
  const v1::Kernel kernel =
      MakeKernel("x, n", {"p = x + tl.arange(0, 16)", "b = tl.load(p, mask=p < n)",
                          "tl.static_assert(b.dtype == tl.int16)", "tl.store(p, b)"});
  EXPECT_EQ(Guesses(kernel, "CompileTimeAssertionFailure", kFirstLine + 2).front(), "x=*i16");
}

TEST(SecondGuessesTest, WhatTheLaunchGivesNeverChanges) {
  const v1::Kernel kernel = Launched(MakeKernel("x: tl.pointer_type(tl.float32), N: tl.constexpr",
                                                {"tl.store(x + tl.arange(0, N), 1.0)"}),
                                     "def f(x):\n    k[(1,)](x, N=48)\n");
  EXPECT_THAT(Guesses(kernel, "ValueError: arange's range must be a power of 2", kFirstLine),
              IsEmpty());
}

TEST(SecondGuessesTest, TheNumberOfGuessesIsBounded) {
  std::vector<std::string> parameters = {"x"};
  std::string sum = "x";
  for (int i = 0; i < 40; ++i) {
    parameters.push_back(absl::StrCat("S", i, ": tl.constexpr"));
    absl::StrAppend(&sum, " + tl.arange(0, S", i, ")");
  }
  const v1::Kernel kernel =
      MakeKernel(absl::StrJoin(parameters, ", "), {absl::StrCat("tl.store(", sum, ", 1.0)")});
  EXPECT_LE(Guesses(kernel, "refused", kFirstLine).size(), kMaxSecondGuesses);
}

}  // namespace
}  // namespace kernelmill::compiler
