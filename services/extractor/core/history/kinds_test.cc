#include "services/extractor/core/history/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/dsl/names.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;

v1::Kernel Kernel(absl::string_view source, absl::string_view name = "k") {
  v1::Kernel kernel;
  kernel.set_name(std::string(name));
  kernel.set_source(std::string(source));
  kernel.set_dsl(dsl::kTriton);
  return kernel;
}

// The kind of a change that the texts do not tell.
std::string JudgeMessage(absl::string_view message) {
  return JudgeKind(message, Kernel("@triton.jit\ndef k(x):\n    a(x)\n"),
                   Kernel("@triton.jit\ndef k(x):\n    b(x, 1)\n"))
      .kind;
}

TEST(JudgeKindTest, LabelsOutweighOtherWords) {
  EXPECT_EQ(JudgeMessage("[Fix] Add a mask"), "fix");
  EXPECT_EQ(JudgeMessage("[Kernel][Perf] Add a path"), "speed");
  EXPECT_EQ(JudgeMessage("perf(ops): add a path"), "speed");
  EXPECT_EQ(JudgeMessage("feat: fix"), "feature");
  EXPECT_EQ(JudgeMessage("[Bugfix] x"), "fix");
  EXPECT_EQ(JudgeMessage("[npu, feat] Reduce x"), "feature");
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

TEST(JudgeKindTest, TheFirstWordOutweighsWhatItIsFor) {
  EXPECT_EQ(JudgeMessage("Refactor the loads for performance"), "refactoring");
  EXPECT_EQ(JudgeMessage("Remove the support for Triton 2"), "refactoring");
  EXPECT_EQ(JudgeMessage("[Ops] Tune the blocks for speed"), "tuning");
  EXPECT_EQ(JudgeMessage("Add a cast to avoid overflow"), "fix");
}

TEST(JudgeKindTest, VagueWordsSayLess) {
  EXPECT_EQ(JudgeMessage("Improve the backward pass"), "speed");
  EXPECT_EQ(JudgeMessage("Improve readability"), "refactoring");
  EXPECT_EQ(JudgeMessage("Improve the precision"), "unknown");
  EXPECT_EQ(JudgeMessage("Make the configuration explicit"), "unknown");
}

TEST(JudgeKindTest, OfTheBodyTheFirstParagraphCounts) {
  EXPECT_EQ(JudgeMessage("Update\n\n- [x] fix the bugs\n- [ ] add tests"), "unknown");
  EXPECT_EQ(JudgeMessage("Update\n\n* fix code format\n* fix ci"), "unknown");
  EXPECT_EQ(JudgeMessage("Update\n\n## Summary\nIt is 2x faster.\n\nFixes tests."), "speed");
  EXPECT_EQ(JudgeMessage("Update\n\nSummary:\nPull Request resolved: https://x.y/1"), "unknown");
  EXPECT_EQ(JudgeMessage("Update\n\nAlso adds support, renames x"), "unknown");
}

TEST(JudgeKindTest, TheEvidenceIsTheWordsAsWritten) {
  const ChangeKind kind =
      JudgeKind("Fixes NaNs", Kernel("def k():\n    a()\n"), Kernel("def k():\n    b()\n"));
  EXPECT_EQ(kind.kind, "fix");
  EXPECT_THAT(kind.evidence, ElementsAre("Fixes", "NaNs"));
}

TEST(JudgeKindTest, IfTheEvidenceContradictsItselfBothKindsAreNamed) {
  const ChangeKind kind =
      JudgeKind("Improve", Kernel("def k(x):\n    a(x)\n"), Kernel("def k(x, y):\n    a(x, y)\n"));
  EXPECT_EQ(kind.kind, "unknown");
  EXPECT_THAT(kind.evidence, ElementsAre("speed: Improve", "feature: rule: new parameters"));
}

TEST(JudgeKindTest, ANameOfCodeIsNoWord) {
  EXPECT_EQ(JudgeMessage("Set `separate_store`"), "unknown");
  EXPECT_EQ(JudgeMessage("[AutoTune] Set the flag"), "tuning");
  EXPECT_EQ(JudgeMessage("[Autotuner] Set the flag"), "unknown");
}

TEST(JudgeKindTest, WhatIsSupportedDoesNotSayMoreThanThatItIs) {
  EXPECT_EQ(JudgeMessage("Support block sizes above 1"), "feature");
  EXPECT_EQ(JudgeMessage("Migrate to the new interface"), "refactoring");
}

TEST(JudgeKindTest, IfTheMessageSaysNothingTheDifferenceHasToBeClear) {
  const auto judge = [](absl::string_view before, absl::string_view after, bool is_new = false) {
    return JudgeKind("Update", Kernel(before), Kernel(after), is_new).kind;
  };
  EXPECT_EQ(judge("def k(a):\n    f(a)\n", "def k(a):\n    g(a)\n"), "unknown");
  EXPECT_EQ(judge("def k(a):\n    f(a)\n", "def k(b, c):\n    f(b, c)\n"), "unknown");
  EXPECT_EQ(judge("def k(a):\n    f(a)\n    g(a)\n", "def k(a):\n    f(a)\n"), "unknown");
  EXPECT_EQ(judge("def k(a):\n    f(a)\n", "def k(a, b):\n    if b:\n        f(a)\n"), "feature");
  EXPECT_EQ(judge("def k(a):\n    f(a)\n", "def k(a):\n    f(a.to(tl.int64))\n"), "fix");
  EXPECT_EQ(judge("def k(a):\n    f(a)\n", "def k(a):\n    g(a.to(n))\n"), "unknown");
}

TEST(JudgeKindTest, TheDifferenceDecidesBetweenWhatTheMessageLeavesOpen) {
  const auto judge = [](absl::string_view message, absl::string_view before,
                        absl::string_view after) {
    return JudgeKind(message, Kernel(before), Kernel(after)).kind;
  };
  const absl::string_view before = "def k(a, n):\n    t.atomic_add(a, n)\n";
  EXPECT_EQ(judge("Use other calls", before, "def k(a, n):\n    t.atomic_max(a, n)\n"), "unknown");
  EXPECT_EQ(judge("Update x\n\nIt is faster", before,
                  "def k(a, n):\n    t.atomic_add(a, n, sem='relaxed')\n"),
            "speed");
  EXPECT_EQ(judge("Improve x", "def k(a, N: t.constexpr):\n    f(a)\n", "def k(a, N):\n    f(a)\n"),
            "speed");
  EXPECT_EQ(judge("Handle rows", "def k(a):\n    f(a)\n",
                  "def k(a):\n    f(a.to(tl.int64))\n    t.debug_barrier()\n"),
            "fix");
}

TEST(JudgeKindTest, NumbersAndCasesOfNamesAreLayout) {
  EXPECT_EQ(
      JudgeKind("Fix", Kernel("def k(a):\n    f(0., A)\n"), Kernel("def k(a):\n    f(0.0, a_)\n"))
          .kind,
      "fix");
  EXPECT_EQ(JudgeKind("Fix", Kernel("def k(a):\n    f(0., flag)\n"),
                      Kernel("def k(a):\n    f(0.0, FLAG)\n"))
                .kind,
            "refactoring");
}

TEST(JudgeKindTest, ARevertSaysSo) {
  EXPECT_EQ(JudgeMessage("Revert \"Fix a mask\""), "revert");
  EXPECT_EQ(JudgeMessage("x\n\nThis reverts commit 0123456"), "revert");
  EXPECT_EQ(JudgeMessage("[Ops] Revert \"Fix a mask\""), "revert");
  EXPECT_EQ(JudgeMessage("Undo the fix of a mask"), "revert");
  EXPECT_EQ(JudgeMessage("Fix a mask\n\n* Revert x\n\nThis reverts commit 0123456"), "fix");
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

TEST(JudgeKindTest, TextsThatDifferInNamesOfTheirOwnAloneAreRefactored) {
  const auto judge = [](absl::string_view before, absl::string_view after) {
    return JudgeKind("Fix", Kernel(before), Kernel(after)).kind;
  };
  EXPECT_EQ(judge("@h({'V': lambda args: args['o']})\ndef k(o):\n    n = o + 1\n    f(n)\n",
                  "@h({'V': lambda args: args['c']})\ndef k(c):\n    m = c + 1\n    f(m)\n"),
            "refactoring");
  EXPECT_EQ(judge("def k(a, b):\n    f(a)\n", "def k(a, b):\n    f(b)\n"), "fix");
  EXPECT_EQ(judge("def k(a):\n    f(a)\n", "def k(a):\n    g(a)\n"), "fix");
  EXPECT_EQ(judge("def k(a):\n    f(a, ONE)\n", "def k(a):\n    f(a, TWO)\n"), "fix");
  EXPECT_EQ(judge("def k(a):\n    f(a.x, '1, 2')\n", "def k(a):\n    f(a.x, '2, 1')\n"), "fix");
  EXPECT_EQ(judge("def k(a):\n    f(a.x)\n", "def k(a):\n    f(a.y)\n"), "fix");
  EXPECT_EQ(judge("def k(a):\n    for i in a:\n        break\n",
                  "def k(a):\n    for i in a:\n        continue\n"),
            "fix");
  EXPECT_EQ(judge("def k(a):\n    tl.f(a)\n", "def k(a):\n    tx.f(a)\n"), "fix");
}

TEST(JudgeKindTest, AnAttributeIsNotTheKernelsName) {
  EXPECT_EQ(JudgeKind("Implement", Kernel("def exp(x):\n    l.exp(x)\n", "exp"),
                      Kernel("def sin(x):\n    l.sin(x)\n", "sin"))
                .kind,
            "feature");
}

TEST(JudgeKindTest, NewParametersSpeakForAFeatureAndFewerForRefactoring) {
  const v1::Kernel before = Kernel("def k(x):\n    a(x)\n");
  const v1::Kernel after = Kernel("def k(x, y: t.constexpr = (1, 2)):\n    a(x, y)\n");
  EXPECT_EQ(JudgeKind("Add y", before, after).kind, "feature");
  EXPECT_EQ(JudgeKind("Fix y", before, after).kind, "fix");
  EXPECT_EQ(JudgeKind("Drop y", after, before).kind, "refactoring");
}

TEST(JudgeKindTest, WhatSurroundsConfigurationsIsNoTuning) {
  const auto judge = [](absl::string_view before, absl::string_view after) {
    return JudgeKind("Add",
                     Kernel(absl::StrCat("@triton.autotune(", before, ")\ndef k(x):\n  a(x)\n")),
                     Kernel(absl::StrCat("@triton.autotune(", after, ")\ndef k(x):\n  a(x)\n")))
        .kind;
  };
  EXPECT_EQ(judge("[Config({}, 4)]", "[Config({}, 4)], **cache"), "feature");
  EXPECT_EQ(judge("[Config({}, 4)]", "wrap([Config({}, 4)])"), "feature");
  EXPECT_EQ(judge("configs=all_configs()", "configs=few_configs()"), "tuning");
}

TEST(JudgeKindTest, LoopsOverConfigurationsBelongToThem) {
  const auto judge = [](absl::string_view warps) {
    return JudgeKind(
               "Add",
               Kernel("@triton.autotune([Config({}, w) for w in [2, 4]], [])\ndef k(x):\n  a(x)\n"),
               Kernel(absl::StrCat("@triton.autotune([Config({}, w) for w in ", warps,
                                   "], [])\ndef k(x):\n  a(x)\n")))
        .kind;
  };
  EXPECT_EQ(judge("WARPS"), "tuning");
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
