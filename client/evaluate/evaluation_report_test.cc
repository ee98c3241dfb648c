#include "client/evaluate/evaluation_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

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
