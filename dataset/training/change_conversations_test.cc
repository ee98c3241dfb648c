#include "dataset/training/change_conversations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/dsl/names.h"

namespace kernelmill::dataset {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kBefore[] =
    "@triton.jit\n"
    "def tail_kernel(x, y, n, B: tl.constexpr):\n"
    "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    v = tl.load(x + i)\n"
    "    tl.store(y + i, v * 2, mask=i < n)\n";
constexpr char kOld[] = "    v = tl.load(x + i)\n";
constexpr char kNew[] = "    v = tl.load(x + i, mask=i < n)\n";

// A change of a line, by a commit that says so.
v1::HistoryRow Change(const std::string& kind, const std::string& message,
                      const std::string& line = kNew) {
  v1::HistoryRow row;
  row.set_kind(kind);
  row.set_message(message);
  row.set_match("same");
  row.set_commit_kernels(1);
  for (v1::HistoryRow::Version* version : {row.mutable_before(), row.mutable_after()}) {
    version->set_name("tail_kernel");
    version->set_dsl(dsl::kTriton);
    version->set_role(v1::KERNEL_ROLE_KERNEL);
    version->set_source(kBefore);
  }
  row.mutable_after()->set_source(absl::StrReplaceAll(kBefore, {{kOld, line}}));
  row.set_diff(absl::StrCat("--- a/z.py\n+++ b/z.py\n@@ -4,1 +4,1 @@\n-", kOld, "+", line));
  return row;
}

std::map<std::string, Conversation> Ask(const v1::HistoryRow& row) {
  std::map<std::string, Conversation> all;
  for (const Conversation& one : MakeChangeConversations(row).asked) {
    all[std::string(one.template_name)] = one;
  }
  return all;
}

// Returns why the template makes nothing of the change; empty if it does.
std::string WhyNot(const std::string& name, const v1::HistoryRow& row) {
  for (const NotAsked& one : MakeChangeConversations(row).not_asked) {
    if (one.template_name == name) return std::string(one.reason);
  }
  return "";
}

constexpr char kFix[] = "Mask the load of the tail (#3)\n\nThe last block read past the end of x.";

TEST(ChangeConversations, ARepairShowsTheFaultAndAnswersWithTheFix) {
  const Conversation repair = Ask(Change("fix", kFix))["repair"];
  EXPECT_EQ(repair.system, "You write GPU kernels in Triton.");
  EXPECT_EQ(repair.user,
            absl::StrCat("This Triton kernel has a fault:\n\n```python\n", kBefore,
                         "```\n\nThe commit that mends it says:\n\nMask the load of the tail\n\n"
                         "The last block read past the end of x.\n\n"
                         "Write `tail_kernel` anew, with its decorators."));
  EXPECT_THAT(repair.assistant, HasSubstr(kNew));
  EXPECT_THAT(repair.assistant, Not(HasSubstr("```\n\n")));
}

// Makes the change a repair by what a compiler says of the line before it.
v1::HistoryRow Refused(v1::HistoryRow row) {
  row.mutable_before()->set_module(absl::StrCat("import triton\n\n", row.before().source()));
  row.mutable_after()->set_module(absl::StrCat("import triton\n\n", row.after().source()));
  row.mutable_after()->mutable_compile()->add_results()->set_status(v1::COMPILE_STATUS_OK);
  row.set_repair(true);
  v1::HistoryRow::Turn* turn = row.add_turns();
  turn->set_toolchain("triton-3.9.0");
  turn->set_target("cuda:90");
  turn->set_message("ValueError: no mask\n");
  turn->set_line(6);
  return row;
}

TEST(ChangeConversations, ARepairShowsWhatTheCompilerSays) {
  constexpr char kError[] =
      "```\n\ntriton-3.9.0 refuses it for cuda:90 in the line `v = tl.load(x + i)`:\n\n"
      "```text\nValueError: no mask\n```\n\n";
  for (const char* kind : {"fix", "unknown"}) {
    const Conversation repair = Ask(Refused(Change(kind, kFix)))["repair"];
    EXPECT_EQ(repair.user,
              absl::StrCat("This Triton kernel does not compile:\n\n```python\nimport triton\n\n",
                           kBefore, kError,
                           "The commit that mends it says:\n\nMask the load of the tail\n\n"
                           "The last block read past the end of x.\n\n"
                           "Write `tail_kernel` anew, with its decorators."));
    EXPECT_THAT(repair.assistant, HasSubstr(kNew));
  }
  v1::HistoryRow row = Refused(Change("unknown", "wip"));
  EXPECT_THAT(Ask(row)["repair"].user,
              EndsWith(absl::StrCat(kError, "Write `tail_kernel` anew, with its decorators.")))
      << "the error says enough of few lines";
  EXPECT_EQ(WhyNot("review", row), "message");
  row.mutable_turns(0)->set_line(0);
  EXPECT_THAT(Ask(row)["repair"].user, HasSubstr("refuses it for cuda:90:\n"));
  std::string more;
  for (int i = 0; i < 9; ++i) absl::StrAppend(&more, "+    v = v + 1\n");
  row.set_diff(absl::StrCat(row.diff(), more));
  EXPECT_EQ(WhyNot("repair", row), "message") << "it changes more than the error is about";
}

TEST(ChangeConversations, NoAnswerIsRefusedByTheCompilers) {
  v1::HistoryRow row = Change("fix", kFix);
  auto& results = *row.mutable_after()->mutable_compile()->mutable_results();
  results.Add()->set_status(v1::COMPILE_STATUS_UNKNOWN);
  EXPECT_THAT(WhyNot("repair", row), IsEmpty());
  results.Add()->set_status(v1::COMPILE_STATUS_ERROR);
  EXPECT_EQ(WhyNot("repair", row), "refused");
  row.set_kind("speed");
  EXPECT_EQ(WhyNot("optimise", row), "refused");
  EXPECT_THAT(WhyNot("review", row), IsEmpty()) << "its answer is no code";
  results.Add()->set_status(v1::COMPILE_STATUS_OK);
  EXPECT_THAT(WhyNot("optimise", row), IsEmpty());
}

TEST(ChangeConversations, AnAnnotationChangesNoLaunch) {
  v1::HistoryRow row = Change("fix", kFix);
  row.mutable_after()->set_source(
      absl::StrReplaceAll(row.after().source(), {{"(x, y, n, ", "(x, y, n: tl.constexpr, "}}));
  EXPECT_THAT(WhyNot("repair", row), IsEmpty());
}

TEST(ChangeConversations, EachKindHasItsTemplates) {
  EXPECT_EQ(Ask(Change("fix", kFix)).count("optimise"), 0u);
  for (const char* kind : {"speed", "tuning"}) {
    const auto all = Ask(Change(kind, kFix));
    EXPECT_EQ(all.count("repair"), 0u);
    EXPECT_THAT(all.at("optimise").user, HasSubstr("is to be made faster"));
    EXPECT_EQ(all.count("review"), 1u);
  }
  EXPECT_EQ(Ask(Change("feature", kFix)).size(), 1u);
  EXPECT_THAT(WhyNot("repair", Change("feature", kFix)), IsEmpty()) << "it is of another kind";
}

TEST(ChangeConversations, AReviewAnswersWithTheMessage) {
  const Conversation review = Ask(Change("fix", kFix))["review"];
  EXPECT_THAT(review.user, HasSubstr(absl::StrCat("```diff\n--- a/z.py\n")));
  EXPECT_THAT(review.user, Not(HasSubstr("Mask the load")));
  EXPECT_EQ(review.assistant,
            "Mask the load of the tail\n\nThe last block read past the end of x.");
}

TEST(ChangeConversations, ModulesAreShownWhereBothSidesHaveOne) {
  v1::HistoryRow row = Change("fix", kFix);
  row.mutable_before()->set_module(absl::StrCat("import triton\n\n", kBefore));
  EXPECT_THAT(Ask(row)["repair"].user, Not(HasSubstr("import triton")));
  row.mutable_after()->set_module("import triton\n\n...");
  EXPECT_THAT(Ask(row)["repair"].user, HasSubstr("import triton"));
}

TEST(ChangeConversations, AMessageMustSaySomethingOfTheKernel) {
  for (const char* message : {"", "fix", "Fix bug (#12)", "Update kernels and tests", "wip"}) {
    EXPECT_EQ(WhyNot("repair", Change("fix", message)), "message") << message;
    EXPECT_EQ(WhyNot("review", Change("fix", message)), "message") << message;
  }
  v1::HistoryRow row = Change("fix", "Fix tail_kernel of attention");
  EXPECT_THAT(WhyNot("repair", row), "message") << "its own name says nothing of a change";
  EXPECT_EQ(WhyNot("optimise", Change("speed", "Fuse the softmax of attention")), "unexplained");
  row = Change("fix", "Correct the softmax scale of attention");
  EXPECT_EQ(WhyNot("review", row), "unexplained");
  EXPECT_THAT(WhyNot("repair", row), IsEmpty()) << "nothing else is changed";
  row.set_commit_kernels(3);
  EXPECT_EQ(WhyNot("repair", row), "other_kernels");
  row = Change("fix", kFix);
  row.set_commit_kernels(8);
  EXPECT_THAT(WhyNot("repair", row), IsEmpty());
  row.set_commit_kernels(9);
  EXPECT_EQ(WhyNot("repair", row), "many_kernels");
}

TEST(ChangeConversations, MergesAndWhatWasUndoneAreLeftOut) {
  v1::HistoryRow row = Change("fix", kFix);
  row.set_merge(true);
  EXPECT_EQ(WhyNot("review", row), "merge");
  row = Change("fix", kFix);
  row.add_reverted_by("c");
  EXPECT_EQ(WhyNot("repair", row), "reverted");
  EXPECT_EQ(WhyNot("review", Change("revert", kFix)), "reverted");
}

TEST(ChangeConversations, AChangeOfNoCodeIsLeftOut) {
  for (const char* line :
       {"    v = tl.load(\n        x + i,\n    )\n", "    v = tl.load(x + i)  # mask\n"}) {
    EXPECT_EQ(WhyNot("review", Change("fix", kFix, line)), "no_code") << line;
  }
  v1::HistoryRow row = Change("fix", kFix);
  row.mutable_after()->set_source("@triton.jit\ndef tail_kernel(a):\n    tl.device_print('a')\n");
  EXPECT_EQ(WhyNot("review", row), "rewritten");
  row = Change("fix", kFix);
  row.set_match("split");
  EXPECT_EQ(WhyNot("review", row), "rewritten");
}

TEST(ChangeConversations, CodeThatNeedsMoreThanIsShownIsNotAskedFor) {
  EXPECT_EQ(WhyNot("repair", Change("fix", kFix, "    v = load_tail(x, i, mask=i < n)\n")),
            "names");
  EXPECT_EQ(
      WhyNot("repair", Change("fix", kFix, "    m, w = i < n, 0\n    v = tl.load(x + i, m, w)\n")),
      "");
  v1::HistoryRow row = Change("fix", kFix);
  row.mutable_after()->set_source(
      absl::StrReplaceAll(row.after().source(), {{"(x, y, n,", "(x, y, n, m,"}}));
  EXPECT_EQ(WhyNot("repair", row), "launch");
  EXPECT_THAT(WhyNot("review", row), IsEmpty());
  row = Change("fix", kFix);
  row.mutable_after()->set_source(
      absl::StrReplaceAll(row.after().source(), {{"program_id(0)", "program_id(axis=1)"}}));
  EXPECT_EQ(WhyNot("repair", row), "launch") << "another grid";
}

TEST(ChangeConversations, AnAnswerNamesNoRequestAndNoPage) {
  for (const char* more : {"It follows #12.", "See https://example.org."}) {
    EXPECT_THAT(
        Ask(Change("fix", absl::StrCat(kFix, "\n\n", more, "\n\nLast.")))["review"].assistant,
        EndsWith("past the end of x."));
  }
}

TEST(ChangeConversations, WordsOfCommentsExplainNothing) {
  const std::string line = "    v = tl.load(x + i + 0)  # softmax of attention\n";
  EXPECT_EQ(WhyNot("review", Change("fix", "Correct the softmax of attention", line)),
            "unexplained");
}

TEST(ChangeConversations, NoQuestionHoldsItsAnswer) {
  EXPECT_EQ(WhyNot("repair", Change("fix", absl::StrCat(kFix, "\n\nNow it is\n", kNew))), "told");
  v1::HistoryRow row =
      Change("fix", kFix, "    # mask the load of the tail\n    v = tl.load(x + i, mask=i < n)\n");
  EXPECT_EQ(WhyNot("review", row), "told");
}

TEST(ChangeConversations, LengthsAreBounded) {
  const std::string line = absl::StrCat(kNew, "    v = ", std::string(13'000, '1'), "\n");
  const v1::HistoryRow row = Change("fix", kFix, line);
  EXPECT_EQ(WhyNot("repair", row), "too_long");
  EXPECT_EQ(WhyNot("review", row), "too_long");
  const std::string code = absl::StrCat("```\n", std::string(1000, 'y'), "\n\nz\n```");
  EXPECT_THAT(Ask(Change("fix", absl::StrCat(kFix, "\n\n", code)))["review"].assistant,
              EndsWith("past the end of x."))
      << "a block is whole or left out";
  const std::string details(3000, 'x');
  EXPECT_THAT(Ask(Change("fix", absl::StrCat(kFix, "\n\n", details)))["repair"].user,
              Not(HasSubstr("xxx")));
}

}  // namespace
}  // namespace kernelmill::dataset
