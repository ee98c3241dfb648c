#include "client/evaluate/evaluation_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/evaluate/terminal_page.h"

namespace kernelmill::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHostile[] =
    "</pre></script><script>alert(1)</script>\"'><img src=x onerror=y>\x1b[31m\u202e&lt;";

EvaluationReport HostileReport() {
  EvaluationReport report;
  Task task;
  task.id = kHostile;
  task.prompt = kHostile;
  task.reference = kHostile;
  task.samples.push_back({absl::StrCat("answer ", kHostile), kHostile, kHostile});
  report.model.generations.file = kHostile;
  report.model.generations.tasks.push_back(task);
  SampleResult result;
  result.problems.push_back(kHostile);
  result.compiles.push_back({kHostile, kHostile, v1::COMPILE_STATUS_ERROR, kHostile});
  result.match = DatasetMatch{"near", 0.9, kHostile, kHostile, 3, kHostile};
  report.model.results.push_back({result});
  report.baseline = report.model;
  return report;
}

TEST(ReadingSheet, HostileTextsAreText) {
  const std::string page = ReadingSheet(HostileReport(), 10);
  const std::string body = page.substr(page.find("<body>"));
  EXPECT_THAT(body, Not(HasSubstr("<script")));
  EXPECT_THAT(body, Not(HasSubstr("<img")));
  EXPECT_THAT(body, Not(HasSubstr("\x1b")));
  EXPECT_THAT(body, Not(HasSubstr("\u202e")));
  EXPECT_THAT(body, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;&lt;img src=x"));
  EXPECT_THAT(body, HasSubstr("\\x1b[31m\\u202e&amp;lt;"));
}

// The page of a hostile report with a finding, for a terminal of so many columns.
std::string HostilePage(int width) {
  EvaluationReport report = HostileReport();
  report.model.results[0][0].findings.push_back({"launched", 3, absl::StrCat(kHostile, kHostile)});
  MeasureSummary honest;
  honest.measure = {kHonesty, "honest"};
  report.summary.push_back(honest);
  return TerminalPage(ReportPage(report), width);
}

TEST(TerminalPage, FitsAndEscapesWhatATerminalWouldActOn) {
  for (const int width : {60, 100}) {
    const std::string page = HostilePage(width);
    EXPECT_THAT(page, Not(HasSubstr("\x1b")));
    EXPECT_THAT(page, Not(HasSubstr("\u202e")));
    for (const absl::string_view line : absl::StrSplit(page, '\n')) {
      if (absl::StartsWith(line, "* ")) continue;  // names of files are not cut
      EXPECT_LE(line.size(), static_cast<size_t>(width)) << line;
    }
  }
}

TEST(TerminalPage, ShowsTextsAsTheyAreAndAlignsColumns) {
  EXPECT_EQ(
      TerminalPage("# A\n\n| a | b |\n|---|---|\n| x\\|y | &lt;t\\_u> |\n| long cell | 1 |\n", 80),
      "A\n\na          b\nx|y        <t_u>\nlong cell  1\n");
  EXPECT_EQ(TerminalPage("one two three", 20), "one two three\n");
}

TEST(ReportPage, NamesTheFirstSampleOfAFinding) {
  EvaluationReport report = HostileReport();
  report.model.generations.tasks[0].id = "task-9";
  report.model.results[0][0].findings.push_back({"launched", 3, "never launched"});
  MeasureSummary honest;
  honest.measure = {kHonesty, "honest"};
  report.summary.push_back(honest);
  EXPECT_THAT(ReportPage(report),
              HasSubstr("| launched | never launched | 1 | task-9, sample 0 |"));
}

TEST(ReadingSheet, NeedsNothingElse) {
  const std::string page = ReadingSheet(HostileReport(), 10);
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(page, HasSubstr("width=device-width"));
  const std::string head = page.substr(0, page.find("<body>"));
  for (const char* outside : {"http:", "https:", "url(", "@import", "<link", "<script"}) {
    EXPECT_THAT(head, Not(HasSubstr(outside)));
  }
}

TEST(ReadingSheet, BaselineStandsBesideTheGenerations) {
  EvaluationReport report = HostileReport();
  report.model.generations.tasks[0].samples[0].code = "tuned_kernel";
  report.baseline->generations.tasks[0].samples[0].code = "base_kernel";
  const std::string page = ReadingSheet(report, 10);
  EXPECT_LT(page.find("base_kernel"), page.find("tuned_kernel"));
  report.baseline->generations.tasks[0].id = "another";
  EXPECT_THAT(ReadingSheet(report, 10), Not(HasSubstr("base_kernel")));
}

TEST(ReadingSheet, ShowsSomeOfManyTasksAndCutsLongTexts) {
  EvaluationReport report;
  for (int i = 0; i < 300; ++i) {
    Task task;
    task.id = absl::StrCat("task-", i);
    task.samples.push_back({"", "", ""});
    task.samples[0].code = std::string(30000, 'x');
    report.model.generations.tasks.push_back(task);
    report.model.results.push_back({SampleResult()});
  }
  const std::string page = ReadingSheet(report, 40);
  EXPECT_THAT(page, HasSubstr("40 of 300 tasks"));
  size_t articles = 0;
  for (size_t at = page.find("<article>"); at != std::string::npos;
       at = page.find("<article>", at + 1)) {
    ++articles;
  }
  EXPECT_EQ(articles, 40u);
  EXPECT_THAT(page, HasSubstr("10000 more bytes are not shown"));
}

}  // namespace
}  // namespace kernelmill::client
