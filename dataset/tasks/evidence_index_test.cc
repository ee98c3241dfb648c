#include "dataset/tasks/evidence_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/testing/status_matchers.h"
#include "dataset/output/json.h"
#include "dataset/tasks/testing/made_evidence.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

const std::string kModule(64, 'a');
const std::string kOther(64, 'b');

// Returns the index of one file with these lines.
EvidenceIndex MakeIndex(const std::vector<std::string>& lines) {
  EvidenceIndex index;
  EXPECT_THAT(index.AddFile("ev", "a.jsonl", absl::StrJoin(lines, "\n") + "\n"), IsOk());
  index.Finish();
  return index;
}

EvidenceIndex MakeIndex(const std::vector<Json>& rows) {
  std::vector<std::string> lines;
  for (const Json& row : rows) lines.push_back(Canonical(row));
  return MakeIndex(lines);
}

Json Case(int size) { return WithId(MakeCase(kModule, "add", size)); }

// Returns the judgement on the kernel with these rows.
std::string Judge(const std::vector<Json>& rows, bool has_reference = true) {
  const EvidenceIndex index = MakeIndex(rows);
  const KernelEvidence* evidence = index.Find({kModule, "add"});
  return evidence == nullptr ? "none" : std::string(JudgeEvidence(*evidence, has_reference, 0.8));
}

TEST(EvidenceIndex, AKernelIsVerifiedByAReplayAndAdequateCases) {
  const Json one = Case(100);
  const Json two = Case(200);
  const Json adequate = MakeAdequacy(kModule, "add", 0.8);
  const Json more = MakeResult(two, "cpu", "exact");
  EXPECT_EQ(Judge({one, two, more, MakeResult(one, "cpu", "exact"), adequate}), "verified");
  EXPECT_EQ(Judge({one, two, more, MakeResult(one, "cuda:90", "close"), adequate}), "verified");
  // A kernel that is wrong does the same wrong thing in each replay.
  EXPECT_EQ(Judge({one, MakeResult(one, "cpu", "exact"), adequate}, false), "no_reference");
  // An error or an unknown outcome elsewhere says nothing about the kernel.
  EXPECT_EQ(
      Judge({one, two, more, MakeResult(one, "cuda:90", "close"), MakeResult(one, "cpu", "error"),
             MakeResult(one, "hip:gfx942", "unknown"), adequate}),
      "verified");
  EXPECT_EQ(Judge({adequate}), "no_case");
  EXPECT_EQ(Judge({one, adequate}), "not_replayed");
  EXPECT_EQ(Judge({one, MakeResult(one, "cpu", "error"), adequate}), "not_replayed");
  EXPECT_EQ(Judge({one, two, MakeResult(one, "cpu", "exact"), MakeResult(two, "cpu", "different"),
                   adequate}),
            "different");
  EXPECT_EQ(Judge({one, MakeResult(one, "cpu", "exact"), MakeResult(one, "cuda:90", "different"),
                   adequate}),
            "different");
  EXPECT_EQ(Judge({one, MakeResult(one, "cpu", "exact")}), "no_adequacy");
  EXPECT_EQ(Judge({one, MakeResult(one, "cpu", "exact"), MakeAdequacy(kModule, "add", 0.79)}),
            "low_adequacy");
  // The lowest of several measurements counts.
  EXPECT_EQ(
      Judge({one, MakeResult(one, "cpu", "exact"), adequate, MakeAdequacy(kModule, "add", 0.5)}),
      "low_adequacy");
  // An answer could be made for the only case, which is shown.
  EXPECT_EQ(Judge({one, MakeResult(one, "cpu", "exact"), adequate}), "no_hidden_case");
  EXPECT_EQ(
      Judge({one, two, MakeResult(one, "cpu", "exact"), MakeResult(two, "cpu", "error"), adequate}),
      "no_hidden_case");
  // Evidence of another kernel of the module.
  EXPECT_EQ(Judge({one, MakeResult(one, "cpu", "exact"), MakeAdequacy(kModule, "sub", 1)}),
            "no_adequacy");
}

TEST(EvidenceIndex, DoesNotDependOnTheOrderOfLines) {
  const Json one = Case(100);
  Json recorded = one;
  recorded["origin"] = {{"recorded", {{"commit", "c"}}}};
  std::vector<Json> rows = {one,
                            recorded,
                            MakeResult(one, "cpu", "exact"),
                            MakeResult(one, "cuda:90", "close"),
                            MakeSpeed(one, "cuda:90", 2),
                            MakeSpeed(one, "cuda:90", 1),
                            MakeAdequacy(kModule, "add", 0.9),
                            MakeAdequacy(kModule, "add", 0.6)};
  const auto describe = [](const std::vector<Json>& of) {
    const EvidenceIndex index = MakeIndex(of);
    const KernelEvidence& found = *index.Find({kModule, "add"});
    const CaseEvidence& only = found.cases.begin()->second;
    return absl::StrCat(found.cases.size(), only.of.origin, only.results[0].device,
                        only.results[1].device, found.speed[0].median, found.adequacy->score);
  };
  const std::string first = describe(rows);
  std::reverse(rows.begin(), rows.end());
  EXPECT_EQ(describe(rows), first);
  EXPECT_EQ(first, "1madecpucuda:9010.6");
}

TEST(EvidenceIndex, HostileLinesAreProblemsWithFileAndLine) {
  const Json one = Case(100);
  Json wrong_id = one;
  wrong_id["grid"][0] = 9;
  Json other_module = MakeResult(one, "cpu", "exact");
  other_module["module_sha256"] = kOther;
  Json of_nothing = MakeResult(one, "cpu", "exact");
  of_nothing["case"] = std::string(64, '9');
  Json colored = MakeAdequacy(kModule, "add", 1);
  colored["color"] = "red";
  const EvidenceIndex index = MakeIndex(std::vector<std::string>{
      Canonical(one), "{\"type\": \"case\"", Canonical(wrong_id), Canonical(other_module),
      Canonical(of_nothing), "{\"type\": \"result\", \"absolute\": NaN}", std::string(2 << 20, ' '),
      "", R"({"type": "wish"})", Canonical(colored), Canonical(one)});
  std::vector<std::string> problems;
  for (const EvidenceProblem& problem : index.problems()) {
    EXPECT_EQ(problem.source, "ev");
    EXPECT_EQ(problem.file, "a.jsonl");
    problems.push_back(absl::StrCat(problem.line, " ", problem.message.substr(0, 20)));
  }
  EXPECT_THAT(problems, ElementsAre("2 is no JSON at byte 1", "3 id: is not that of i",
                                    "4 module_sha256: is no", "6 is no JSON at byte 3",
                                    "7 must have at most 10", "8 is no JSON at byte 1"));
  const EvidenceCounts& counts = index.counts();
  EXPECT_EQ(counts.files, 1);
  EXPECT_EQ(counts.lines, 11);
  EXPECT_EQ(counts.problems, 6);
  EXPECT_EQ(counts.results_without_case, 1);
  EXPECT_EQ(counts.repeated, 1);
  EXPECT_THAT(counts.unknown_types, ElementsAre(Pair("wish", 1)));
  EXPECT_THAT(counts.unknown_fields, ElementsAre(Pair("adequacy.color", 1)));
  EXPECT_THAT(index.Find({kModule, "add"})->cases, SizeIs(1));
  EXPECT_EQ(index.Find({kOther, "add"}), nullptr);
}

TEST(EvidenceIndex, WhatAnAuthorNamesCannotFillTheReport) {
  EvidenceIndex index;
  std::vector<std::string> lines;
  for (int i = 0; i < 300; ++i) {
    lines.push_back(absl::StrCat(R"({"type": "t)", i, "\"}"));
    lines.push_back("bad");
  }
  ASSERT_THAT(index.AddFile("ev", "b\xff\u202e.jsonl", absl::StrJoin(lines, "\n")), IsOk());
  ASSERT_THAT(index.AddFile("ev", "a.jsonl", "worse"), IsOk());
  index.Finish();
  EXPECT_THAT(index.problems(), SizeIs(EvidenceIndex::kMaxProblems));
  EXPECT_EQ(index.problems()[0].file, "a.jsonl");
  EXPECT_EQ(index.problems()[1].file, "b\ufffd\\u202e.jsonl");
  EXPECT_EQ(index.problems()[1].line, 2);
  EXPECT_EQ(index.counts().problems, 301);
  EXPECT_THAT(index.counts().unknown_types, SizeIs(101));
}

// The ids of the shown and of the hidden cases.
std::pair<std::vector<std::string>, std::vector<std::string>> Divide(
    const std::vector<Json>& cases) {
  std::vector<Json> rows = cases;
  for (const Json& one : cases) rows.push_back(MakeResult(one, "cpu", "exact"));
  const EvidenceIndex index = MakeIndex(rows);
  std::pair<std::vector<std::string>, std::vector<std::string>> ids;
  const DividedCases divided = DivideCases(*index.Find({kModule, "add"}));
  for (const CaseEvidence* one : divided.shown) ids.first.push_back(one->of.id);
  for (const CaseEvidence* one : divided.hidden) ids.second.push_back(one->of.id);
  return ids;
}

TEST(DivideCases, TwoCasesHaveOneOnEachSide) {
  for (int size = 1; size < 40; ++size) {
    EXPECT_THAT(Divide({Case(size)}).first, SizeIs(1));
    EXPECT_THAT(Divide({Case(size)}).second, IsEmpty());
    const auto two = Divide({Case(size), Case(size + 1)});
    EXPECT_THAT(two.first, SizeIs(1));
    EXPECT_THAT(two.second, SizeIs(1));
  }
}

TEST(DivideCases, ACaseStaysOnItsSideWhenOthersCome) {
  std::vector<Json> cases;
  for (int size = 1; size <= 20; ++size) cases.push_back(Case(size));
  const auto few = Divide(cases);
  std::reverse(cases.begin(), cases.end());
  EXPECT_EQ(Divide(cases), few);
  for (int size = 21; size <= 60; ++size) cases.push_back(Case(size));
  const auto many = Divide(cases);
  EXPECT_EQ(many.first.size() + many.second.size(), 60);
  EXPECT_GT(many.second.size(), 15);
  for (const std::string& id : few.second) EXPECT_THAT(many.second, ::testing::Contains(id));
  for (int size = 61; size <= 400; ++size) cases.push_back(Case(size));
  const auto most = Divide(cases);
  EXPECT_EQ(most.first.size() + most.second.size(), kMaxTaskCases);
}

TEST(DivideCases, LeavesOutWhatDoesNotReplay) {
  const Json one = Case(1);
  const Json two = Case(2);
  const EvidenceIndex index = MakeIndex(std::vector<Json>{one, two, MakeResult(one, "cpu", "exact"),
                                                          MakeResult(two, "cpu", "exact"),
                                                          MakeResult(two, "cpu", "different")});
  const DividedCases divided = DivideCases(*index.Find({kModule, "add"}));
  ASSERT_THAT(divided.shown, SizeIs(1));
  EXPECT_EQ(divided.shown[0]->of.id, one["id"]);
  EXPECT_THAT(divided.hidden, IsEmpty());
}

}  // namespace
}  // namespace kernelmill::dataset
