#include "client/evaluate/sheet.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/hash.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

constexpr size_t kMaxShown = 20000;  // characters of a text
constexpr int kLineWidth = 1000;     // the page breaks or scrolls shorter lines by itself

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

// Up to kMaxShown characters, no character parted.
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
  // The line end that HTML takes away behind the tag.
  return absl::StrCat("<pre>\n", Shown(text), "</pre>\n");
}

std::string Folded(absl::string_view title, absl::string_view text, absl::string_view kind) {
  return absl::StrCat("<details class=\"", kind, "\"><summary>", title, "</summary>\n", Pre(text),
                      "</details>\n");
}

std::string ChecksHtml(const SampleResult& result) {
  std::vector<std::string> failed;
  std::vector<std::string> figures;
  int passed = 0;
  for (const auto& [measure, value] : result.values) {
    if (measure.group == kOverlap || measure.name == "masked_accesses") {
      figures.push_back(absl::StrFormat("%s %.3f", measure.name, value));
    } else if (measure.group == kStatic) {
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
  if (!result.problems.empty()) {
    absl::StrAppend(&html, "<ul>\n");
    for (const std::string& problem : result.problems) {
      absl::StrAppend(&html, "<li>", HtmlLine(problem), "</li>\n");
    }
    absl::StrAppend(&html, "</ul>\n");
  }
  if (figures.empty()) return html;
  return absl::StrCat(html, "<p class=\"quiet\">", absl::StrJoin(figures, ", "), "</p>\n");
}

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

std::string MatchHtml(const SampleResult& result) {
  if (!result.match.has_value()) return "";
  const DatasetMatch& match = *result.match;
  return absl::StrCat("<p class=\"open\">", match.kind, " match in the dataset, ",
                      absl::StrFormat("%.3f", match.similarity), ": ", HtmlLine(match.repository),
                      " ", HtmlLine(match.path), ":", match.first_line, " ",
                      HtmlLine(match.qualname), "</p>\n");
}

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
                  MatchHtml(result));
  if (sample.answer != sample.code) {
    absl::StrAppend(&html, Folded("the whole answer", sample.answer, "prose"));
  }
  return html + "</section>\n";
}

// The tasks that are shown, in the file's order.
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

std::string ReadingSheet(const EvaluationReport& report, size_t tasks) {
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
