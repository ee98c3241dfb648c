#include "services/extractor/core/history/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;

v1::Kernel Kernel(absl::string_view source, absl::string_view name = "k") {
  v1::Kernel kernel;
  kernel.set_name(std::string(name));
  kernel.set_source(std::string(source));
  kernel.set_dsl(v1::DSL_TRITON);
  return kernel;
}

// The kind of a change that the texts do not tell.
std::string JudgeMessage(absl::string_view message) {
  return JudgeKind(message, Kernel("@triton.jit\ndef k(x):\n    a(x)\n"),
                   Kernel("@triton.jit\ndef k(x):\n    b(x)\n"))
      .kind;
}

TEST(JudgeKindTest, LabelsComeFirst) {
  EXPECT_EQ(JudgeMessage("[Fix] Add a mask"), "fix");
  EXPECT_EQ(JudgeMessage("[Kernel][Perf] Add a path"), "speed");
  EXPECT_EQ(JudgeMessage("perf(ops): add a path"), "speed");
  EXPECT_EQ(JudgeMessage("feat: fix"), "feature");
  EXPECT_EQ(JudgeMessage("[Bugfix] x"), "fix");
  EXPECT_EQ(JudgeMessage("[npu, feat] Tune x"), "feature");
  EXPECT_EQ(JudgeMessage("[Prefix] Update"), "unknown");
}

TEST(JudgeKindTest, WordsOfTheSubjectComeBeforeThoseOfTheBody) {
  EXPECT_EQ(JudgeMessage("Fix illegal memory access\n\nAdd a mask, add a test, support x"), "fix");
  EXPECT_EQ(JudgeMessage("Speed up the backward pass"), "speed");
  EXPECT_EQ(JudgeMessage("Add varlen support"), "feature");
  EXPECT_EQ(JudgeMessage("Refactor the kernels"), "refactoring");
  EXPECT_EQ(JudgeMessage("Update\n\nfixes a race"), "fix");
  EXPECT_EQ(JudgeMessage("Update the prefix"), "unknown");
}

TEST(JudgeKindTest, AMergeHasTheTitleOfItsRequestAsSubject) {
  EXPECT_EQ(JudgeMessage("Merge pull request #1 from a/feature/x\n\nSpeed up x"), "speed");
  EXPECT_EQ(JudgeMessage("Merge pull request #1 from a/feature/fix-x"), "fix");
}

TEST(JudgeKindTest, BoxesToTickAreNoWords) {
  EXPECT_EQ(JudgeMessage("Update\n\n- [x] fix the bugs\n- [ ] add tests"), "unknown");
}

TEST(JudgeKindTest, TheEvidenceIsTheWordsAsWritten) {
  const ChangeKind kind =
      JudgeKind("Fixes NaNs", Kernel("def k():\n    a()\n"), Kernel("def k():\n    b()\n"));
  EXPECT_EQ(kind.kind, "fix");
  EXPECT_THAT(kind.evidence, ElementsAre("Fixes", "NaNs"));
}

TEST(JudgeKindTest, ARevertSaysSo) {
  EXPECT_EQ(JudgeMessage("Revert \"Fix a mask\""), "revert");
  EXPECT_EQ(JudgeMessage("x\n\nThis reverts commit 0123456"), "revert");
}

TEST(JudgeKindTest, TextsThatDifferInCommentsOrNamesAloneAreRefactored) {
  const v1::Kernel before = Kernel("@triton.jit\ndef k(x, y):\n    a(x, y)\n");
  EXPECT_EQ(
      JudgeKind(
          "Fix", before,
          Kernel("@triton.jit\ndef k(\n    x,\n    y,\n):\n    \"\"\"D.\"\"\"\n    a(x, y)  # c\n"))
          .kind,
      "refactoring");
  EXPECT_EQ(
      JudgeKind("Fix", before, Kernel("@triton.jit\ndef other(x, y):\n    a(x, y)\n", "other"))
          .kind,
      "refactoring");
}

TEST(JudgeKindTest, ConfigurationsAloneAreTuning) {
  const std::string body = "@triton.jit\ndef k(x):\n    a(x)\n";
  EXPECT_EQ(
      JudgeKind("Add",
                Kernel(absl::StrCat("@triton.autotune([Config({}, num_warps=4)], [])\n", body)),
                Kernel(absl::StrCat("@triton.autotune([Config({}, num_warps=8)], [])\n", body)))
          .kind,
      "tuning");
  EXPECT_EQ(
      JudgeKind("Fix a hang",
                Kernel(absl::StrCat("@triton.autotune([Config({}, num_warps=4)], [])\n", body)),
                Kernel(absl::StrCat("@triton.autotune([Config({}, num_warps=8)], [])\n", body)))
          .kind,
      "fix");
}

}  // namespace
}  // namespace kernelmill::extractor
