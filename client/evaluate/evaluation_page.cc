#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/console/format.h"
#include "client/evaluate/evaluation_report.h"
#include "dataset/output/markdown.h"

namespace kernelmill::client {
namespace {

constexpr size_t kReasons = 15;

// Text of a file in a cell or a line of Markdown.
std::string Cell(absl::string_view text) { return dataset::MarkdownCell(OneLine(text)); }

std::string Figure(double value) { return absl::StrFormat("%.3f", value); }

bool IsPass(const Measure& measure) { return measure.group.starts_with("pass@"); }

// "1 task", "2 tasks".
std::string Count(size_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

std::string ModelText(const char* what, const EvaluatedModel& model) {
  size_t references = 0;
  size_t in_dataset = 0;
  for (const Task& task : model.generations.tasks) references += task.reference.has_value();
  for (const auto& match : model.references) in_dataset += match.has_value();
  std::string text = absl::StrCat("* ", what, ": ", Cell(model.generations.file), ", ",
                                  Count(model.generations.tasks.size(), "task"), ", ",
                                  Count(model.generations.samples(), "sample"), ", ",
                                  Count(references, "reference"));
  if (in_dataset > 0)
    absl::StrAppend(&text, ", ", in_dataset, " of them like a kernel of the dataset");
  return text + "\n";
}

const MeasureSummary* Find(const std::vector<MeasureSummary>& summary, const Measure& measure) {
  const auto at = absl::c_find_if(
      summary, [&](const MeasureSummary& entry) { return entry.measure == measure; });
  return at == summary.end() ? nullptr : &*at;
}

std::string MeanOf(const MeasureSummary* summary) {
  return summary == nullptr ? "" : Figure(summary->mean);
}

// A row for each measure of the group: the means.
std::string SharesTable(const EvaluationReport& report, absl::string_view group) {
  const bool two = report.baseline.has_value();
  std::string table =
      absl::StrCat("| measure |", two ? " baseline |" : "",
                   " generations | tasks | samples |\n|---|", two ? "---|" : "", "---|---|---|\n");
  for (const MeasureSummary& summary : report.summary) {
    if (summary.measure.group != group) continue;
    absl::StrAppend(&table, "| ", Cell(summary.measure.name), " | ");
    if (two) absl::StrAppend(&table, MeanOf(Find(report.baseline_summary, summary.measure)), " | ");
    absl::StrAppend(&table, MeanOf(&summary), " | ", summary.tasks, " | ", summary.samples, " |\n");
  }
  return table;
}

std::string DistributionRow(const char* model, const MeasureSummary& summary) {
  const Distribution& values = summary.distribution;
  return absl::StrCat("| ", Cell(summary.measure.name), " | ", model, " | ", Figure(values.mean),
                      " | ", Figure(values.min), " | ", Figure(values.lower_quartile), " | ",
                      Figure(values.median), " | ", Figure(values.upper_quartile), " | ",
                      Figure(values.max), " | ", summary.samples, " |\n");
}

std::string OverlapTable(const EvaluationReport& report) {
  std::string table =
      "| measure | of | mean | min | quartile | median | quartile | max | samples |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  for (const MeasureSummary& summary : report.summary) {
    if (summary.measure.group != kOverlap) continue;
    const MeasureSummary* base = Find(report.baseline_summary, summary.measure);
    if (base != nullptr) table += DistributionRow("baseline", *base);
    table += DistributionRow("generations", summary);
  }
  return table;
}

// Of one model, a row for each compiler and target.
std::string CompileRows(const char* model, const std::vector<MeasureSummary>& summary) {
  std::string rows;
  for (const MeasureSummary& all : summary) {
    if (all.measure.group != kCompile) continue;
    const MeasureSummary* decided = Find(summary, {kDecided, all.measure.name});
    const auto samples = static_cast<double>(all.samples);
    const double known = decided == nullptr ? 0 : static_cast<double>(decided->samples) / samples;
    const double ok = all.distribution.mean;
    absl::StrAppend(&rows, "| ", Cell(all.measure.name), " | ", model, " | ", Figure(ok), " | ",
                    Figure(known - ok), " | ", Figure(1 - known), " | ",
                    decided == nullptr ? "" : Figure(decided->distribution.mean), " | ",
                    all.samples, " |\n");
  }
  return rows;
}

std::string CompileTable(const EvaluationReport& report) {
  std::string table =
      "| toolchain and target | of | ok | error | unknown | ok of the decided | samples |\n"
      "|---|---|---|---|---|---|---|\n";
  if (report.baseline.has_value()) table += CompileRows("baseline", report.baseline_summary);
  return table + CompileRows("generations", report.summary);
}

// Without the kernel's name, which it begins with: other kernels fail for the same reason.
absl::string_view ReasonOf(absl::string_view message) {
  const size_t end = message.find(": ");
  return end == absl::string_view::npos ? message : message.substr(end + 2);
}

// Why samples do not compile: what most samples have from any compiler.
std::string ReasonTable(const EvaluatedModel& model) {
  std::map<std::pair<std::string, std::string>, int> samples;
  for (const std::vector<SampleResult>& task : model.results) {
    for (const SampleResult& sample : task) {
      std::set<std::pair<std::string, std::string>> reasons;
      for (const CompileOutcome& outcome : sample.compiles) {
        if (outcome.status == v1::COMPILE_STATUS_OK) continue;
        reasons.emplace(outcome.status == v1::COMPILE_STATUS_ERROR ? "error" : "unknown",
                        ReasonOf(outcome.message));
      }
      for (const auto& reason : reasons) ++samples[reason];
    }
  }
  if (samples.empty()) return "";
  std::vector<std::pair<std::pair<std::string, std::string>, int>> most(samples.begin(),
                                                                        samples.end());
  absl::c_stable_sort(most, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string table = absl::StrCat(
      "\n## Why not\n\nWhy generations do not compile, ",
      most.size() > kReasons
          ? absl::StrCat("the ", kReasons, " most frequent of ", most.size(), " reasons")
          : "the most frequent reason first",
      "; sheet.html and samples.jsonl have each sample's.\n\n"
      "| | of the first kernel that does not compile | samples |\n|---|---|---|\n");
  if (most.size() > kReasons) most.resize(kReasons);
  for (const auto& [reason, count] : most) {
    absl::StrAppend(&table, "| ", reason.first, " | ", Cell(reason.second), " | ", count, " |\n");
  }
  return table;
}

std::string PassRows(const char* model, const std::vector<MeasureSummary>& summary) {
  std::string rows;
  for (const MeasureSummary& pass : summary) {
    if (!IsPass(pass.measure)) continue;
    absl::StrAppend(&rows, "| ", pass.measure.group, " | ", Cell(pass.measure.name), " | ", model,
                    " | ", Figure(pass.mean), " | ", pass.tasks, " |\n");
  }
  return rows;
}

std::string PassTable(const EvaluationReport& report) {
  std::string table = "| | toolchain and target | of | mean | tasks |\n|---|---|---|---|---|\n";
  if (report.baseline.has_value()) table += PassRows("baseline", report.baseline_summary);
  return table + PassRows("generations", report.summary);
}

std::string DifferenceTable(const Comparison& comparison) {
  std::string text = absl::StrCat(
      "Generations less baseline, over ", Count(comparison.common_tasks, "task"),
      " that both have (", comparison.base_only, " are the baseline's alone, ",
      comparison.tuned_only,
      " the generations'), with 95 % intervals of the paired bootstrap over tasks (", kResamples,
      " resamples). Marked: the interval excludes 0. One task has no interval.\n\n"
      "| group | measure | baseline | generations | difference | 95 % interval | | tasks |\n"
      "|---|---|---|---|---|---|---|---|\n");
  for (const MeasureDifference& entry : comparison.differences) {
    const Difference& difference = entry.difference;
    absl::StrAppend(
        &text, "| ", entry.measure.group, " | ", Cell(entry.measure.name), " | ",
        Figure(entry.base), " | ", Figure(entry.tuned), " | ",
        absl::StrFormat("%+.3f", difference.difference), " | ",
        entry.tasks > 1 ? absl::StrFormat("%+.3f to %+.3f", difference.low, difference.high) : "",
        " | ", entry.excludes_zero() ? "**yes**" : "", " | ", entry.tasks, " |\n");
  }
  return text;
}

bool HasGroup(const EvaluationReport& report, absl::string_view group) {
  return absl::c_any_of(report.summary, [&](const MeasureSummary& summary) {
    return summary.measure.group == group;
  });
}

}  // namespace

std::string ReportPage(const EvaluationReport& report) {
  std::string page = "# Evaluation\n\n" + ModelText("generations", report.model);
  if (report.baseline.has_value()) page += ModelText("baseline", *report.baseline);
  absl::StrAppend(
      &page,
      "\nA mean is over tasks, of each task's mean over its samples. docs/evaluate.md of "
      "kernelmill says what each measure is.\n\n## Static checks\n\n",
      SharesTable(report, kStatic));
  if (HasGroup(report, kOverlap)) {
    absl::StrAppend(&page, "\n## Overlap with the reference\n\nOver samples.\n\n",
                    OverlapTable(report));
  }
  if (report.compile.has_value()) {
    absl::StrAppend(&page,
                    "\n## Compiled\n\nShares of samples. Unknown says nothing of a sample: what it "
                    "is called with could not be told, or a package is missing.\n\n",
                    CompileTable(report),
                    "\n## pass@k\n\nA sample passes that compiles. Of the decided samples; \"of "
                    "all\": unknown counts as failed.\n\n",
                    PassTable(report), ReasonTable(report.model));
  } else {
    absl::StrAppend(&page, "\n## Compiled\n\nNothing was compiled (--no-compile).\n");
  }
  if (HasGroup(report, kMemorised)) {
    absl::StrAppend(&page, "\n## Memorised\n\nShares of samples with a kernel that is like one of ",
                    Cell(report.dataset), ", by the best match.\n\n",
                    SharesTable(report, kMemorised));
  }
  if (report.comparison.has_value()) {
    absl::StrAppend(&page, "\n## Differences\n\n", DifferenceTable(*report.comparison));
  }
  return page;
}

}  // namespace kernelmill::client
