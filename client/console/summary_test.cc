#include "client/console/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/console/exit_code.h"
#include "client/console/output.h"
#include "client/console/testing/done_job.h"

namespace kernelmill::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string SummaryText(const v1::JobStatus& status, const std::string& out_dir) {
  Summary summary;
  summary.status = status;
  summary.out_dir = out_dir;
  return PlainText(SummaryLines(summary));
}

TEST(SummaryText, SaysWhatBecameOfEverything) {
  const std::string text = SummaryText(DoneJob(), "/out");
  EXPECT_THAT(text, HasSubstr("10 found = 4 kept + 3 rejected + 2 duplicate + 1 contaminated"));
  EXPECT_THAT(text, HasSubstr("5 seen = 5 extracted + 0 skipped + 0 failed"));
  EXPECT_THAT(text, HasSubstr(std::string(64, 'a') + "/7"));
  EXPECT_THAT(text, HasSubstr("written to /out"));
  EXPECT_THAT(text, Not(HasSubstr("failures")));
}

TEST(SummaryText, NamesTheReasonsWithTheirCounts) {
  EXPECT_THAT(SummaryText(DoneJob(), ""),
              HasSubstr("contaminated\n  rejected     license 2, quality 1\n"
                        "  duplicate    exact 2\n  contaminated near 1\nfiles "));
}

TEST(SummaryText, NamesTextsWithKernelsThatAreNotRead) {
  v1::JobStatus status = DoneJob();
  EXPECT_THAT(SummaryText(status, ""), Not(HasSubstr("not read")));
  v1::Counter* counter = status.add_counters();
  counter->set_name("dataset.strings.skipped.macro");
  counter->set_value(67);
  EXPECT_THAT(SummaryText(status, ""), HasSubstr("\nnot read   67 texts with kernels: macro 67\n"));
}

TEST(SummaryText, NamesWhatMatchesNothingAndThatIsNoFailure) {
  v1::JobStatus status = DoneJob();
  AddUnmatched({"include", "sources[0].include[1]", "a", "*.cu", "matches none of its 3 files", {}},
               &status);
  AddUnmatched({"kept", "dataset", "", "", "is empty: no kernel is found", {}}, &status);
  const std::string text = SummaryText(status, "");
  EXPECT_THAT(text,
              HasSubstr("WARNING    the dataset is empty: no kernel is found\n"
                        "unmatched  1 difference between the job and its sources\n"
                        "  sources[0].include[1]  a: \"*.cu\" matches none of its 3 files\n"));
  EXPECT_THAT(text, Not(HasSubstr("failures")));
  EXPECT_EQ(ToExitCode(status), kDone);
  EXPECT_THAT(ReportText(status), HasSubstr("  sources[0].include[1]  a: "));
  EXPECT_THAT(SummaryText(DoneJob(), ""), Not(HasSubstr("unmatched")));
}

TEST(SummaryText, ShowsTheFirstOfManyThatMatchNothing) {
  v1::JobStatus status = DoneJob();
  for (int i = 0; i < 30; ++i) {
    AddUnmatched({"opt_out", absl::StrCat("opt_out[", i, "]"), "", "x", "names nothing", {}},
                 &status);
  }
  const std::string text = SummaryText(status, "/out");
  EXPECT_THAT(text, HasSubstr("unmatched  30 differences"));
  EXPECT_THAT(text, HasSubstr("  opt_out[5]  "));
  EXPECT_THAT(text, Not(HasSubstr("  opt_out[6]  ")));
  EXPECT_THAT(text, HasSubstr("  and 24 more: /out/report.json\n"));
}

TEST(SummaryText, HasALineForWholeFilesWhereThereAreAny) {
  v1::JobStatus status = DoneJob();
  EXPECT_THAT(SummaryText(status, ""), Not(HasSubstr("\nwhole")));
  EXPECT_THAT(ReportText(status), Not(HasSubstr("whole")));
  for (const char* name :
       {"dataset.training_files.found", "dataset.training_files.rejected.holds"}) {
    v1::Counter* counter = status.add_counters();
    counter->set_name(name);
    counter->set_value(3);
  }
  EXPECT_THAT(SummaryText(status, ""),
              HasSubstr("whole      3 found = 0 kept + 3 rejected + 0 duplicate + 0 contaminated"));
  EXPECT_THAT(SummaryText(status, ""), HasSubstr("10 found = 4 kept"));
  EXPECT_THAT(ReportText(status), ::testing::ContainsRegex("rejected +3\n +holds +3"));
}

TEST(SummaryText, SaysWhatARunDid) {
  v1::JobStatus status = DoneJob();
  EXPECT_THAT(SummaryText(status, ""), Not(HasSubstr("\nrun ")));
  SetCounter("run.cpu.exact", 5, &status);
  SetCounter("run.cpu.different", 1, &status);
  SetCounter("run.cpu.known", 3, &status);
  SetCounter("run.cpu.without_tensor", 2, &status);
  SetCounter("run.cuda:90.known", 9, &status);
  EXPECT_THAT(
      SummaryText(status, ""),
      HasSubstr("\nrun        cpu: 6 cases run: exact 5, different 1; 3 known before; 2 not "
                "run, since the evidence lacks their tensors\n"
                "           cuda:90: 0 cases run; 9 known before\n"));
  Summary summary;
  summary.status = status;
  const auto json = nlohmann::json::parse(SummaryJson(summary));
  EXPECT_EQ(json["run"]["cpu"]["without_tensor"], 2);
  EXPECT_EQ(json["run"]["cuda:90"], nlohmann::json({{"known", 9}}));
}

TEST(SummaryText, ListsFailures) {
  v1::JobStatus status = DoneJob();
  status.set_failure_count(1);
  v1::Failure* failure = status.add_failures();
  failure->set_source("https://example.org/gone");
  failure->set_stage("pin");
  failure->set_code("NOT_FOUND");
  failure->set_message("no such\nrepository");
  EXPECT_THAT(SummaryText(status, ""),
              HasSubstr("  https://example.org/gone  pin  NOT_FOUND: no such repository\n"));
  EXPECT_THAT(SummaryText(status, ""), Not(HasSubstr("more")));
  status.set_failure_count(90'000);
  EXPECT_THAT(SummaryText(status, "/out"), HasSubstr("  and 89999 more: /out/report.json\n"));
}

TEST(SummaryText, SaysWhichRunItWas) {
  v1::JobStatus status = DoneJob();
  EXPECT_THAT(SummaryText(status, ""), Not(HasSubstr("run ")));
  status.set_runs(3);
  status.set_priority(5);
  EXPECT_THAT(SummaryText(status, ""), HasSubstr("  run 3  priority 5\n"));
}

TEST(SummaryJson, IsOneObjectOnOneLine) {
  Summary summary;
  summary.status = DoneJob();
  summary.out_dir = "/o\"ut";
  summary.write_time = absl::Milliseconds(1500);
  const std::string line = SummaryJson(summary);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const nlohmann::ordered_json json = nlohmann::ordered_json::parse(line);
  EXPECT_EQ(json["type"], "summary");
  EXPECT_EQ(json["out"], "/o\"ut");
  EXPECT_EQ(json["exit"], 0);
  EXPECT_EQ(json["job"]["state"], "done");
  EXPECT_EQ(json["kernels"]["rejected"], 3);
  EXPECT_EQ(json["time"]["write_ms"], 1500);
  EXPECT_TRUE(json["time"]["slowest_source"].is_null());
}

TEST(SummaryText, NamesTheLanguagesAndSourcesOfWhatIsKept) {
  v1::JobStatus status = DoneJob();
  SetCounter("dataset.languages.cuda", 1, &status);
  SetCounter("dataset.languages.triton", 3, &status);
  SetCounter("dataset.sources.read", 6, &status);
  SetCounter("dataset.sources.kept", 5, &status);
  SetCounter("dataset.split.train", 3, &status);
  SetCounter("dataset.split.test", 1, &status);
  const std::string text = SummaryText(status, "");
  EXPECT_THAT(text, HasSubstr("  kept         triton 3, cuda 1; from 5 of 6 sources\n"));
  EXPECT_THAT(text, HasSubstr("splits     train 3, test 1\n"));
}

TEST(SummaryText, CutsManyReasonsFromTheLargestOn) {
  v1::JobStatus status = DoneJob();
  for (int i = 0; i < 9; ++i) {
    SetCounter(absl::StrCat("dataset.rejected.r", i), 10 + i, &status);
  }
  EXPECT_THAT(SummaryText(status, ""),
              HasSubstr("  rejected     r8 18, r7 17, r6 16, r5 15, r4 14, r3 13, 5 others 36\n"));
}

Summary UsualSummary() {
  Summary summary;
  summary.status = DoneJob();
  summary.out_dir = "my out/";
  summary.write_time = absl::Milliseconds(1500);
  summary.busy.emplace();
  summary.busy->stages = {{"fetch", absl::Seconds(8)}, {"extract", absl::Seconds(9)}};
  summary.busy->slowest_source = {"big", absl::Seconds(6)};
  summary.busy->slowest_stage = {"fetch", absl::Seconds(5)};
  return summary;
}

TEST(SummaryText, SaysWhereTheTimeWent) {
  EXPECT_THAT(PlainText(SummaryLines(UsualSummary())),
              HasSubstr("time       extract 9.0s, fetch 8.0s, writing 1.5s\n"
                        "  wall time; stages overlap; the slowest source is big, 6.0s, most of it "
                        "fetch\n"));
}

TEST(SummaryText, SaysThatASourceWasTriedAgain) {
  Summary summary = UsualSummary();
  EXPECT_THAT(PlainText(SummaryLines(summary)), Not(HasSubstr("tried again")));
  summary.busy->retried = {"flaky", absl::Seconds(90)};
  EXPECT_THAT(PlainText(SummaryLines(summary)),
              HasSubstr("\n  flaky was tried again, and waited 90.0s for that\n"));
  EXPECT_EQ(nlohmann::json::parse(SummaryJson(summary))["time"]["retried"]["ms"], 90'000);
}

TEST(SummaryText, SaysWhatTheFolderHadBeforeAndLacksNow) {
  Summary summary = UsualSummary();
  EXPECT_THAT(PlainText(SummaryLines(summary)), Not(HasSubstr("lost")));
  summary.lost.push_back(
      {"liger", 40, 10, {{"no longer found", 7}, {"now rejected: template", 3}}});
  for (int i = 0; i < 9; ++i) summary.lost.push_back({absl::StrCat("s", i), 1, 1, {{"x", 1}}});
  const std::string text = PlainText(SummaryLines(summary));
  EXPECT_THAT(text, HasSubstr("lost       19 kept kernels and files that were in my out/ before\n"
                              "  liger  10 of 40: no longer found 7, now rejected: template 3\n"));
  EXPECT_THAT(text, HasSubstr("  and 4 more sources\n"));
  const auto json = nlohmann::json::parse(SummaryJson(summary))["lost"];
  EXPECT_EQ(json.size(), 10u);
  EXPECT_EQ(json[0]["reasons"]["no longer found"], 7);
}

TEST(SummaryText, CountsReferencesAndTasks) {
  Summary summary = UsualSummary();
  EXPECT_TRUE(nlohmann::json::parse(SummaryJson(summary))["tasks"].is_null());
  summary.references = {{"reference", 120}, {"no_test", 30}, {"no_comparison", 50}};
  summary.tasks = {{"no_case", 2}};
  const std::string text = PlainText(SummaryLines(summary));
  EXPECT_THAT(text, HasSubstr("references 120 reference; no_comparison 50, no_test 30\n"));
  EXPECT_THAT(text, HasSubstr("tasks      0 verified; no_case 2\n"));
  EXPECT_EQ(nlohmann::json::parse(SummaryJson(summary))["references"]["no_test"], 30);
}

TEST(SummaryText, CountsChangesOfKernels) {
  Summary summary = UsualSummary();
  EXPECT_THAT(PlainText(SummaryLines(summary)), Not(HasSubstr("history")));
  const std::pair<const char*, int> counters[] = {
      {"history.sources", 1},      {"history.commits", 90},    {"history.commits_with_changes", 8},
      {"history.kernels", 5},      {"history.changes.fix", 7}, {"history.changes.speed", 4},
      {"history.lost_versions", 2}};
  for (const auto& [name, value] : counters) SetCounter(name, value, &summary.status);
  summary.history = {{"rows", 9}, {"license_files", 2}};
  const std::string lines =
      "history    11 changes of 5 kernels in 8 of 90 commits of 1 source; 2 versions of files "
      "lost\n  kind         fix 7, speed 4\n";
  EXPECT_THAT(PlainText(SummaryLines(summary)),
              HasSubstr(lines + "  written      9 rows; license_files 2\n"));
  summary.turns = {{"judged", 6}, {"repairs", 2}, {"breaks", 1}};
  EXPECT_THAT(PlainText(SummaryLines(summary)),
              HasSubstr("license_files 2\n  compiled     6 judged; repairs 2, breaks 1\n"));
  EXPECT_THAT(ReportText(summary.status), HasSubstr(lines));
  EXPECT_EQ(nlohmann::json::parse(SummaryJson(summary))["history"]["license_files"], 2);
  EXPECT_EQ(nlohmann::json::parse(SummaryJson(summary))["turns"]["repairs"], 2);
}

TEST(SummaryText, SaysWhatToDoNext) {
  Summary summary = UsualSummary();
  summary.is_embedded = true;
  const std::string done = PlainText(SummaryLines(summary));
  EXPECT_THAT(done, HasSubstr("next       kernelmill head 'my out' "));
  EXPECT_THAT(done, HasSubstr("\n           kernelmill publish 'my out' hf://OWNER/NAME "));
  EXPECT_THAT(done, Not(HasSubstr("again")));
  summary.status.set_failure_count(1);
  summary.status.add_failures()->set_source("gone");
  EXPECT_THAT(PlainText(SummaryLines(summary)), HasSubstr("next       the same command again "));
  summary.is_embedded = false;
  summary.out_dir.clear();
  summary.cluster_flags = " --coordinator host:1";
  const std::string there = PlainText(SummaryLines(summary));
  EXPECT_THAT(there, HasSubstr("next       kernelmill retry j1 --wait --coordinator host:1 "));
  EXPECT_THAT(there, HasSubstr("kernelmill export j1 --out DIR --coordinator host:1 "));
}

// The screen of a newcomer.
TEST(SummaryText, FitsOnAScreen) {
  Summary summary = UsualSummary();
  v1::JobStatus& status = summary.status;
  SetCounter("dataset.languages.triton", 3, &status);
  SetCounter("dataset.split.train", 3, &status);
  for (int i = 0; i < 3; ++i) {
    AddUnmatched({"include", absl::StrCat("sources[", i, "].include[0]"), "", "*.cu", "none", {}},
                 &status);
  }
  for (int i = 0; i < 3; ++i) status.add_failures()->set_source("gone");
  status.set_failure_count(3);
  const std::vector<LabelledLine> lines = SummaryLines(summary);
  EXPECT_LE(lines.size(), 24u);
  for (const absl::string_view line : absl::StrSplit(PlainText(lines), '\n')) {
    EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST(SummaryText, TheColourSaysHowItWent) {
  Summary summary = UsualSummary();
  EXPECT_EQ(SummaryLines(summary)[0].tone, Tone::kGood);
  summary.status.set_failure_count(1);
  EXPECT_EQ(SummaryLines(summary)[0].tone, Tone::kWarning);
  summary.status.set_state(v1::JOB_STATE_FAILED);
  EXPECT_EQ(SummaryLines(summary)[0].tone, Tone::kBad);
}

}  // namespace
}  // namespace kernelmill::client
