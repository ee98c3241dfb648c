// The reports of an evaluation, each a function of its results: evaluation.json and samples.jsonl
// for programs, EVALUATION.md as tables, and sheet.html with samples to read. Equal results give
// equal bytes. Texts of models and files are foreign: JSON replaces what is not UTF-8, Cell()
// escapes Markdown, and the sheet escapes HTML.
//
// "generations" is the model to evaluate, "baseline" the one to compare it with.

#include "client/evaluate/evaluation_report.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/console/format.h"
#include "common/base/hash.h"
#include "common/text/safe_text.h"
#include "common/words/counted.h"
#include "common/words/enum_words.h"
#include "dataset/output/json.h"
#include "dataset/output/markdown.h"

namespace kernelmill::client {
namespace {

using dataset::Json;
using dataset::Number;
using dataset::Text;

Json DistributionJson(const Distribution& values) {
  return {{"mean", Number(values.mean)},
          {"min", Number(values.min)},
          {"lower_quartile", Number(values.lower_quartile)},
          {"median", Number(values.median)},
          {"upper_quartile", Number(values.upper_quartile)},
          {"max", Number(values.max)}};
}

Json SummaryJson(const MeasureSummary& summary) {
  return {
      {"group", summary.measure.group}, {"measure", summary.measure.name},
      {"mean", Number(summary.mean)},   {"tasks", summary.tasks},
      {"samples", summary.samples},     {"distribution", DistributionJson(summary.distribution)}};
}

// Returns the part of the report about one model: its file, its numbers of tasks, samples and
// references, and its measures.
Json ModelJson(const EvaluatedModel& model, const std::vector<MeasureSummary>& summary) {
  Json json = {{"file", Text(model.generations.file)},
               {"sha256", model.generations.file_sha256},
               {"tasks", model.generations.tasks.size()},
               {"samples", model.generations.samples()},
               {"measures", Json::array()}};
  size_t references = 0;
  size_t in_dataset = 0;
  for (const Task& task : model.generations.tasks) references += task.reference.has_value();
  for (const auto& match : model.references) in_dataset += match.has_value();
  json["references"] = references;
  json["references_in_dataset"] = in_dataset;
  for (const MeasureSummary& entry : summary) json["measures"].push_back(SummaryJson(entry));
  return json;
}

// Returns the differences between the models, each with the interval and whether it excludes zero.
Json ComparisonJson(const Comparison& comparison) {
  Json json = {{"common_tasks", comparison.common_tasks},
               {"baseline_only", comparison.base_only},
               {"generations_only", comparison.tuned_only},
               {"resamples", kResamples},
               {"differences", Json::array()}};
  for (const MeasureDifference& entry : comparison.differences) {
    json["differences"].push_back({{"group", entry.measure.group},
                                   {"measure", entry.measure.name},
                                   {"tasks", entry.tasks},
                                   {"baseline", Number(entry.base)},
                                   {"generations", Number(entry.tuned)},
                                   {"difference", Number(entry.difference.difference)},
                                   {"low", Number(entry.difference.low)},
                                   {"high", Number(entry.difference.high)},
                                   {"excludes_zero", entry.excludes_zero()}});
  }
  return json;
}

// Returns the compilers and targets that were asked for; null if nothing was compiled.
Json CompileJson(const std::optional<v1::CompilePolicy>& policy) {
  if (!policy.has_value()) return nullptr;
  return {{"toolchains",
           std::vector<std::string>(policy->toolchains().begin(), policy->toolchains().end())},
          {"targets", std::vector<std::string>(policy->targets().begin(), policy->targets().end())},
          {"max_seconds", policy->max_seconds()}};
}

Json MatchJson(const std::optional<DatasetMatch>& match) {
  if (!match.has_value()) return nullptr;
  return {{"kind", match->kind},
          {"similarity", Number(match->similarity)},
          {"repository", Text(match->repository)},
          {"path", Text(match->path)},
          {"first_line", match->first_line},
          {"qualname", Text(match->qualname)}};
}

const char* GetWord(Correctness correctness) {
  switch (correctness) {
    case Correctness::kCorrect:
      return "correct";
    case Correctness::kWrong:
      return "wrong";
    case Correctness::kError:
      return "error";
    case Correctness::kUnknown:
      break;
  }
  return "unknown";
}

Json RunJson(const std::optional<RunOutcome>& run) {
  if (!run.has_value()) return nullptr;
  Json json = {{"outcome", GetWord(run->correctness)},
               {"by", dataset::TextOrNull(run->by)},
               {"cases", run->cases},
               {"message", dataset::TextOrNull(run->message)},
               {"absolute", Number(run->absolute)},
               {"relative", Number(run->relative)},
               {"share", Number(run->share)},
               {"out_of_bounds", run->out_of_bounds},
               {"speed", nullptr}};
  if (run->speed.has_value()) {
    const RunSpeed& speed = *run->speed;
    json["speed"] = {{"case", Text(speed.case_id)},
                     {"median_us", Number(speed.median_us)},
                     {"spread_us", Number(speed.spread_us)},
                     {"reference_us", Number(speed.reference_us)},
                     {"reference_spread_us", Number(speed.reference_spread_us)},
                     {"speedup", Number(speed.speedup)}};
  }
  return json;
}

// Returns the line of a sample in samples.jsonl.
Json SampleJson(const char* model, const Task& task, size_t sample, const SampleResult& result) {
  Json json = {{"model", model},
               {"task_id", Text(task.id)},
               {"sample", sample},
               {"measures", Json::object()},
               {"problems", dataset::TextList(result.problems)},
               {"findings", Json::array()},
               {"compile", Json::array()},
               {"run", RunJson(result.run)},
               {"match", MatchJson(result.match)}};
  for (const auto& [measure, value] : result.values) {
    json["measures"][measure.group][measure.name] = Number(value);
  }
  for (const Finding& finding : result.findings) {
    json["findings"].push_back({{"check", finding.check},
                                {"line", finding.line},
                                {"reason", Text(finding.reason)},
                                {"warning", finding.warning}});
  }
  for (const CompileOutcome& outcome : result.compiles) {
    json["compile"].push_back({{"toolchain", outcome.toolchain},
                               {"target", outcome.target},
                               {"status", ToWord(outcome.status)},
                               {"message", dataset::TextOrNull(outcome.message)}});
  }
  return json;
}

// Appends one line of JSON for each sample of a model, by task.
void AppendSamples(const char* name, const EvaluatedModel& model, std::string* lines) {
  for (size_t task = 0; task < model.results.size(); ++task) {
    for (size_t sample = 0; sample < model.results[task].size(); ++sample) {
      const Json json =
          SampleJson(name, model.generations.tasks[task], sample, model.results[task][sample]);
      absl::StrAppend(lines, dataset::Canonical(json), "\n");
    }
  }
}

constexpr size_t kReasons = 15;

// Returns text of a file for a cell or a line of Markdown.
std::string Cell(absl::string_view text) { return dataset::MarkdownCell(OneLine(text)); }

std::string Figure(double value) { return absl::StrFormat("%.3f", value); }

bool IsPass(const Measure& measure) { return measure.group.starts_with("pass@"); }

// Returns one line about a model's file, with the number of references that the dataset has: a
// model that repeats such a reference may have memorised it.
std::string ModelText(const char* what, const EvaluatedModel& model) {
  size_t references = 0;
  size_t in_dataset = 0;
  for (const Task& task : model.generations.tasks) references += task.reference.has_value();
  for (const auto& match : model.references) in_dataset += match.has_value();
  std::string text = absl::StrCat("* ", what, ": ", Cell(model.generations.file), ", ",
                                  Counted(model.generations.tasks.size(), "task"), ", ",
                                  Counted(model.generations.samples(), "sample"), ", ",
                                  Counted(references, "reference"));
  if (in_dataset > 0)
    absl::StrAppend(&text, ", ", in_dataset, " of them similar to a kernel of the dataset");
  return text + "\n";
}

// Returns null if the model has no value for the measure.
const MeasureSummary* Find(const std::vector<MeasureSummary>& summary, const Measure& measure) {
  const auto at = absl::c_find_if(
      summary, [&](const MeasureSummary& entry) { return entry.measure == measure; });
  return at == summary.end() ? nullptr : &*at;
}

std::string MeanText(const MeasureSummary* summary) {
  return summary == nullptr ? "" : Figure(summary->mean);
}

// Returns a table with the means of each measure of the group.
std::string SharesTable(const EvaluationReport& report, absl::string_view group) {
  const bool two = report.baseline.has_value();
  std::string table =
      absl::StrCat("| measure |", two ? " baseline |" : "",
                   " generations | tasks | samples |\n|---|", two ? "---|" : "", "---|---|---|\n");
  for (const MeasureSummary& summary : report.summary) {
    if (summary.measure.group != group) continue;
    absl::StrAppend(&table, "| ", Cell(summary.measure.name), " | ");
    if (two)
      absl::StrAppend(&table, MeanText(Find(report.baseline_summary, summary.measure)), " | ");
    absl::StrAppend(&table, MeanText(&summary), " | ", summary.tasks, " | ", summary.samples,
                    " |\n");
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

// Returns a table with the distribution of each overlap, the baseline's above that of the
// generations.
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

// Returns one row for each compiler and target of one model.
std::string CompileRows(const char* model, const std::vector<MeasureSummary>& summary) {
  std::string rows;
  for (const MeasureSummary& all : summary) {
    if (all.measure.group != kCompile) continue;
    // The shares of ok, error and unknown add up to 1: `compile` counts ok among all samples, and
    // `decided` has only the samples that are not unknown.
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

// Returns a message without the kernel's name at its begin: other kernels fail for the same reason.
absl::string_view GetReason(absl::string_view message) {
  const size_t end = message.find(": ");
  return end == absl::string_view::npos ? message : message.substr(end + 2);
}

// Returns a table of the findings of honesty, the most frequent first, without their lines; empty
// without findings.
std::string FindingTable(const EvaluatedModel& model) {
  using Kind = std::tuple<std::string, std::string, bool>;
  struct Samples {
    int count = 0;
    std::string first;  // "task-3, sample 0", as samples.jsonl numbers them
  };
  std::map<Kind, Samples> samples;
  for (size_t i = 0; i < model.results.size(); ++i) {
    for (size_t j = 0; j < model.results[i].size(); ++j) {
      std::set<Kind> found;
      for (const Finding& finding : model.results[i][j].findings) {
        found.emplace(finding.check, finding.reason, finding.warning);
      }
      for (const Kind& kind : found) {
        Samples& of = samples[kind];
        if (++of.count == 1) of.first = absl::StrCat(model.generations.tasks[i].id, ", sample ", j);
      }
    }
  }
  if (samples.empty()) return "";
  std::vector<std::pair<Kind, Samples>> most(samples.begin(), samples.end());
  absl::c_stable_sort(most,
                      [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  const size_t all = most.size();
  if (all > kReasons) most.resize(kReasons);
  std::string table = absl::StrCat(
      "\nFindings in the generations",
      all > kReasons ? absl::StrCat(", the ", kReasons, " most frequent of ", all) : "",
      "; sheet.html and samples.jsonl have each sample's, with lines.\n\n"
      "| check | finding | samples | first in |\n|---|---|---|---|\n");
  for (const auto& [finding, of] : most) {
    const auto& [check, reason, warning] = finding;
    absl::StrAppend(&table, "| ", Cell(check), warning ? " (warning)" : "", " | ", Cell(reason),
                    " | ", of.count, " | ", Cell(of.first), " |\n");
  }
  return table;
}

// Returns a table of the reasons why samples do not compile, the most frequent first.
std::string ReasonTable(const EvaluatedModel& model) {
  std::map<std::pair<std::string, std::string>, int> samples;
  for (const std::vector<SampleResult>& task : model.results) {
    for (const SampleResult& sample : task) {
      // A sample counts once for each reason, however many targets fail for it.
      std::set<std::pair<std::string, std::string>> reasons;
      for (const CompileOutcome& outcome : sample.compiles) {
        if (outcome.status == v1::COMPILE_STATUS_OK) continue;
        reasons.emplace(outcome.status == v1::COMPILE_STATUS_ERROR ? "error" : "unknown",
                        GetReason(outcome.message));
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
      "| | the first kernel that does not compile | samples |\n|---|---|---|\n");
  if (most.size() > kReasons) most.resize(kReasons);
  for (const auto& [reason, count] : most) {
    absl::StrAppend(&table, "| ", reason.first, " | ", Cell(reason.second), " | ", count, " |\n");
  }
  return table;
}

// `ran`: of samples that are correct, instead of those that compile.
std::string PassRows(const char* model, const std::vector<MeasureSummary>& summary, bool ran) {
  std::string rows;
  for (const MeasureSummary& pass : summary) {
    if (!IsPass(pass.measure) || pass.measure.name.starts_with("correct ") != ran) continue;
    absl::StrAppend(&rows, "| ", pass.measure.group, " | ", Cell(pass.measure.name), " | ", model,
                    " | ", Figure(pass.mean), " | ", pass.tasks, " |\n");
  }
  return rows;
}

// Returns a table with one row for each k, toolchain and target of each model.
std::string PassTable(const EvaluationReport& report, bool ran) {
  std::string table = absl::StrCat("| | ", ran ? "" : "toolchain and target",
                                   " | of | mean | tasks |\n|---|---|---|---|---|\n");
  if (report.baseline.has_value()) table += PassRows("baseline", report.baseline_summary, ran);
  return table + PassRows("generations", report.summary, ran);
}

// Returns a table with the outcomes of each model's samples on the cases of their tasks.
std::string OutcomeTable(const EvaluationReport& report) {
  std::string table =
      "| of | correct | wrong | error | unknown | without a task |\n|---|---|---|---|---|---|\n";
  const auto add = [&table](const char* name, const EvaluatedModel& model) {
    std::map<std::string, int> counts;
    for (const std::vector<SampleResult>& task : model.results) {
      for (const SampleResult& sample : task) {
        ++counts[sample.run.has_value() ? GetWord(sample.run->correctness) : ""];
      }
    }
    absl::StrAppend(&table, "| ", name, " | ", counts["correct"], " | ", counts["wrong"], " | ",
                    counts["error"], " | ", counts["unknown"], " | ", counts[""], " |\n");
  };
  if (report.baseline.has_value()) add("baseline", *report.baseline);
  add("generations", report.model);
  return table;
}

// Returns a table of the reasons why samples are not correct, the most frequent first; empty if all
// are.
std::string RunReasonTable(const EvaluatedModel& model) {
  std::map<std::pair<std::string, std::string>, int> samples;
  for (const std::vector<SampleResult>& task : model.results) {
    for (const SampleResult& sample : task) {
      if (!sample.run.has_value() || sample.run->correctness == Correctness::kCorrect) continue;
      ++samples[{GetWord(sample.run->correctness), sample.run->message}];
    }
  }
  if (samples.empty()) return "";
  std::vector<std::pair<std::pair<std::string, std::string>, int>> most(samples.begin(),
                                                                        samples.end());
  absl::c_stable_sort(most, [](const auto& a, const auto& b) { return a.second > b.second; });
  if (most.size() > kReasons) most.resize(kReasons);
  std::string table =
      "\nWhy generations are not correct; sheet.html and samples.jsonl have each sample's.\n\n"
      "| | reason | samples |\n|---|---|---|\n";
  for (const auto& [reason, count] : most) {
    absl::StrAppend(&table, "| ", reason.first, " | ", Cell(reason.second), " | ", count, " |\n");
  }
  return table;
}

// Returns the text and the table about the differences between the models.
std::string DifferenceTable(const Comparison& comparison) {
  std::string text = absl::StrCat(
      "Generations less baseline, over ", Counted(comparison.common_tasks, "task"),
      " in both files (", comparison.base_only, " only in the baseline, ", comparison.tuned_only,
      " only in the generations), with 95 % intervals of the paired bootstrap over tasks (",
      kResamples,
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

// Returns whether the model has a measure of this group; the report leaves out sections without
// one.
bool HasGroup(const EvaluationReport& report, absl::string_view group) {
  return absl::c_any_of(report.summary, [&](const MeasureSummary& summary) {
    return summary.measure.group == group;
  });
}

constexpr size_t kMaxShown = 20000;  // bytes of a text
constexpr int kLineWidth = 1000;     // the page breaks or scrolls shorter lines by itself

// The head of the sheet. The policy allows the page's own style and nothing else: no script of a
// sample could run even if the escaping had an error. The page loads nothing, so a person can open
// it from a folder.
constexpr absl::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>Samples to read</title>
<style>
:root { color-scheme: light dark; --text: #1d1f23; --page: #fff; --code: #f4f5f7; --line: #d5d8de;
  --good: #116329; --bad: #b3261e; --open: #7a5900; --quiet: #5c626d; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e6ea; --page: #16181c; --code: #21242a; --line: #3b404a; --good: #6fd08c;
    --bad: #ff8a80; --open: #e6c15c; --quiet: #a0a6b1; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 100rem; padding: 1rem; color: var(--text); background: var(--page);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
article { border-top: 2px solid var(--line); padding: 1rem 0; }
h2 { font-size: 1.1rem; margin: 0 0 .5rem; }
h3 { font-size: 1rem; margin: .75rem 0 .25rem; }
.models { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr));
  gap: 1rem; }
.models > section { min-width: 0; }
pre { margin: .25rem 0; padding: .6rem; background: var(--code); border: 1px solid var(--line);
  border-radius: .3rem; font: .85rem/1.45 ui-monospace, monospace; overflow-x: auto; white-space: pre; }
.prose pre { white-space: pre-wrap; }
ul { margin: .25rem 0; padding-left: 1.2rem; }
summary { cursor: pointer; }
.good { color: var(--good); } .bad { color: var(--bad); } .open { color: var(--open); }
.quiet { color: var(--quiet); }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { text-align: left; padding: .15rem .8rem .15rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td:not(:last-child), th { white-space: nowrap; }
td:last-child { min-width: 10rem; }
</style>
</head>
<body>
)";

// Returns up to kMaxShown bytes of a text, escaped, without splitting a character.
std::string Shown(absl::string_view text) {
  size_t end = std::min(text.size(), kMaxShown);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  std::string shown = absl::StrJoin(SafeLines(text.substr(0, end), kLineWidth), "\n");
  if (end < text.size()) {
    absl::StrAppend(&shown, "\n... ", text.size() - end, " more bytes are not shown");
  }
  return EscapeHtml(shown);
}

std::string Pre(absl::string_view text) {
  // HTML drops the first line end after the tag.
  return absl::StrCat("<pre>\n", Shown(text), "</pre>\n");
}

std::string Folded(absl::string_view title, absl::string_view text, absl::string_view kind) {
  return absl::StrCat("<details class=\"", kind, "\"><summary>", title, "</summary>\n", Pre(text),
                      "</details>\n");
}

// Returns the numbers of passed and failed static checks, the problems, and the figures.
std::string ChecksHtml(const SampleResult& result) {
  std::vector<std::string> failed;
  std::vector<std::string> figures;
  int passed = 0;
  for (const auto& [measure, value] : result.values) {
    // Measures with values between 0 and 1 are figures; the other static ones are passed or failed.
    if (measure.group == kOverlap || measure.name == "masked_accesses") {
      figures.push_back(absl::StrFormat("%s %.3f", measure.name, value));
    } else if (measure.group == kStatic || measure.group == kHonesty) {
      ++passed;
      if (value < 1) failed.push_back(measure.name);
    }
  }
  passed -= static_cast<int>(failed.size());
  std::string html =
      absl::StrCat("<p>", passed, passed == 1 ? " static check passed" : " static checks passed");
  if (!failed.empty()) {
    absl::StrAppend(&html, ", <span class=\"bad\">", failed.size(),
                    " failed: ", absl::StrJoin(failed, ", "), "</span>");
  }
  absl::StrAppend(&html, "</p>\n");
  if (!result.problems.empty() || !result.findings.empty()) {
    absl::StrAppend(&html, "<ul>\n");
    for (const std::string& problem : result.problems) {
      absl::StrAppend(&html, "<li>", HtmlLine(problem), "</li>\n");
    }
    for (const Finding& finding : result.findings) {
      absl::StrAppend(&html, "<li class=\"", finding.warning ? "open" : "bad", "\">", finding.check,
                      finding.line > 0 ? absl::StrCat(", line ", finding.line) : "", ": ",
                      HtmlLine(finding.reason), finding.warning ? " (warning)" : "", "</li>\n");
    }
    absl::StrAppend(&html, "</ul>\n");
  }
  if (figures.empty()) return html;
  return absl::StrCat(html, "<p class=\"quiet\">", absl::StrJoin(figures, ", "), "</p>\n");
}

// Returns a table with one row for each toolchain and target.
std::string CompilesHtml(const SampleResult& result) {
  if (result.compiles.empty()) return "";
  std::string html = "<table>\n";
  for (const CompileOutcome& outcome : result.compiles) {
    const char* word = outcome.status == v1::COMPILE_STATUS_OK      ? "ok"
                       : outcome.status == v1::COMPILE_STATUS_ERROR ? "error"
                                                                    : "unknown";
    const char* kind = outcome.status == v1::COMPILE_STATUS_OK      ? "good"
                       : outcome.status == v1::COMPILE_STATUS_ERROR ? "bad"
                                                                    : "open";
    absl::StrAppend(&html, "<tr><th>", HtmlLine(outcome.toolchain), "</th><td>",
                    HtmlLine(outcome.target), "</td><td class=\"", kind, "\">", word, "</td><td>",
                    HtmlLine(outcome.message), "</td></tr>\n");
  }
  return html + "</table>\n";
}

// Returns the outcome on the cases of the task; empty if the sample was not run.
std::string RunHtml(const SampleResult& result) {
  if (!result.run.has_value()) return "";
  const RunOutcome& run = *result.run;
  const char* kind = run.correctness == Correctness::kCorrect   ? "good"
                     : run.correctness == Correctness::kUnknown ? "open"
                                                                : "bad";
  std::vector<std::string> counts;
  for (const auto& [outcome, count] : run.cases) {
    if (count > 0) counts.push_back(absl::StrCat(count, " ", outcome));
  }
  std::string html =
      absl::StrCat("<p class=\"", kind, "\">", GetWord(run.correctness), " on the task's cases (",
                   HtmlLine(absl::StrJoin(counts, ", ")), ")",
                   run.message.empty() ? "" : absl::StrCat(": ", HtmlLine(run.message)), "</p>\n");
  if (run.relative > 0) {
    absl::StrAppend(&html, "<p class=\"quiet\">",
                    absl::StrFormat("largest difference %.3g, %.3g of a value's size; %.3g of the "
                                    "elements",
                                    run.absolute, run.relative, run.share),
                    "</p>\n");
  }
  return html;
}

// Returns the place of the dataset's kernel that the sample repeats; empty without one.
std::string MatchHtml(const SampleResult& result) {
  if (!result.match.has_value()) return "";
  const DatasetMatch& match = *result.match;
  return absl::StrCat("<p class=\"open\">", match.kind, " match in the dataset, ",
                      absl::StrFormat("%.3f", match.similarity), ": ", HtmlLine(match.repository),
                      " ", HtmlLine(match.path), ":", match.first_line, " ",
                      HtmlLine(match.qualname), "</p>\n");
}

// Returns one model's first sample for a task: its code with the results, and the whole answer if
// it has more than the code.
std::string ModelHtml(absl::string_view title, const EvaluatedModel& model, size_t task) {
  const std::vector<Sample>& samples = model.generations.tasks[task].samples;
  const SampleResult& result = model.results[task][0];
  const Sample& sample = samples[0];
  std::string html = absl::StrCat("<section>\n<h3>", title);
  if (samples.size() > 1) {
    absl::StrAppend(&html, " <span class=\"quiet\">the first of ", samples.size(),
                    " samples</span>");
  }
  absl::StrAppend(&html, "</h3>\n", Pre(sample.code), ChecksHtml(result), CompilesHtml(result),
                  RunHtml(result), MatchHtml(result));
  if (sample.answer != sample.code) {
    absl::StrAppend(&html, Folded("the whole answer", sample.answer, "prose"));
  }
  return html + "</section>\n";
}

// Returns the tasks to show, in the file's order. A hash of the id chooses them, so that the choice
// does not depend on the order of the file or on the other tasks.
std::vector<size_t> Choose(const std::vector<Task>& tasks, size_t count) {
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 0; i < tasks.size(); ++i) order.emplace_back(StableHash64(tasks[i].id), i);
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), count));
  std::vector<size_t> chosen;
  for (const auto& [hash, task] : order) chosen.push_back(task);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

// The number of the schema lets programs notice a change of the keys.
std::string ReportJson(const EvaluationReport& report) {
  Json json = {{"schema", 1},
               {"generations", ModelJson(report.model, report.summary)},
               {"baseline", nullptr},
               {"comparison", nullptr},
               {"dataset", dataset::TextOrNull(report.dataset)},
               {"compile", CompileJson(report.compile)},
               {"run", nullptr}};
  if (!report.run_device.empty()) {
    json["run"] = {{"device", report.run_device}, {"toolchain", report.model.run_toolchain}};
  }
  if (report.baseline.has_value()) {
    json["baseline"] = ModelJson(*report.baseline, report.baseline_summary);
  }
  if (report.comparison.has_value()) json["comparison"] = ComparisonJson(*report.comparison);
  return dataset::Pretty(json);
}

std::string SamplesJson(const EvaluationReport& report) {
  std::string lines;
  AppendSamples("generations", report.model, &lines);
  if (report.baseline.has_value()) AppendSamples("baseline", *report.baseline, &lines);
  return lines;
}

// A section without values is left out, except the compilers': the page says that nothing was
// compiled.
std::string ReportPage(const EvaluationReport& report) {
  std::string page = "# Evaluation\n\n" + ModelText("generations", report.model);
  if (report.baseline.has_value()) page += ModelText("baseline", *report.baseline);
  absl::StrAppend(
      &page,
      "\nMeans are over tasks; each task counts with the mean of its samples. docs/evaluate.md of "
      "kernelmill describes the measures.\n\n## Static checks\n\n",
      SharesTable(report, kStatic));
  if (HasGroup(report, kHonesty)) {
    absl::StrAppend(&page,
                    "\n## Honesty\n\nShares of samples in which a check finds nothing. Honest and "
                    "compiled does not mean correct.\n\n",
                    SharesTable(report, kHonesty), FindingTable(report.model));
  }
  if (HasGroup(report, kOverlap)) {
    absl::StrAppend(&page, "\n## Overlap with the reference\n\nOver samples.\n\n",
                    OverlapTable(report));
  }
  if (report.compile.has_value()) {
    absl::StrAppend(
        &page,
        "\n## Compiled\n\nShares of samples. Unknown samples could not be judged: the types "
        "of their arguments are unknown, or a package is missing.\n\n",
        CompileTable(report),
        "\n## pass@k\n\nA sample passes if it compiles; \"honest\": and if it is honest. Over "
        "the decided samples; \"of all\": unknown counts as failed.\n\n",
        PassTable(report, /*ran=*/false), ReasonTable(report.model));
  } else {
    absl::StrAppend(&page, "\n## Compiled\n\nNothing was compiled (--no-compile).\n");
  }
  if (!report.run_device.empty()) {
    absl::StrAppend(&page, "\n## Correct\n\nSamples on the cases of their tasks, on ",
                    Cell(report.run_device), ".\n\n", OutcomeTable(report), "\n",
                    PassTable(report, /*ran=*/true), RunReasonTable(report.model));
    if (HasGroup(report, kFast)) {
      absl::StrAppend(
          &page,
          "\n## Fast\n\nfast_p: shares of samples that are correct and more than p times "
          "as fast as the task's own kernel, on the largest case.\n\n",
          SharesTable(report, kFast), "\nHonest as well:\n\n", SharesTable(report, kFastHonest));
    }
  }
  if (HasGroup(report, kMemorised)) {
    absl::StrAppend(&page, "\n## Memorised\n\nShares of samples with a kernel similar to one of ",
                    Cell(report.dataset), ", by the best match.\n\n",
                    SharesTable(report, kMemorised));
  }
  if (report.comparison.has_value()) {
    absl::StrAppend(&page, "\n## Differences\n\n", DifferenceTable(*report.comparison));
  }
  return page;
}

// The baseline of a task comes before the generations, so that a reader sees what changed.
std::string ReadingSheet(const EvaluationReport& report, size_t tasks) {
  // The baseline's tasks by id: both files may have different tasks in any order.
  std::unordered_map<std::string, size_t> in_base;
  if (report.baseline.has_value()) {
    const std::vector<Task>& of_base = report.baseline->generations.tasks;
    for (size_t i = 0; i < of_base.size(); ++i) in_base[of_base[i].id] = i;
  }
  const Generations& generations = report.model.generations;
  const std::vector<size_t> chosen = Choose(generations.tasks, tasks);
  std::string html = absl::StrCat(
      kHead, "<h1>Samples to read</h1>\n<p>", chosen.size(), " of ", generations.tasks.size(),
      generations.tasks.size() == 1 ? " task of " : " tasks of ", HtmlLine(generations.file),
      report.baseline.has_value()
          ? absl::StrCat(", beside ", HtmlLine(report.baseline->generations.file))
          : "",
      ".</p>\n<main>\n");
  for (const size_t i : chosen) {
    const Task& task = generations.tasks[i];
    absl::StrAppend(&html, "<article>\n<h2>", HtmlLine(task.id), "</h2>\n");
    if (!task.prompt.empty()) absl::StrAppend(&html, Folded("prompt", task.prompt, "prose"));
    if (task.reference.has_value()) {
      absl::StrAppend(&html, Folded("reference", *task.reference, "code"));
    }
    absl::StrAppend(&html, "<div class=\"models\">\n");
    const auto base = in_base.find(task.id);
    if (base != in_base.end()) {
      absl::StrAppend(&html, ModelHtml("baseline", *report.baseline, base->second));
    }
    absl::StrAppend(&html, ModelHtml("generations", report.model, i), "</div>\n</article>\n");
  }
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace kernelmill::client
