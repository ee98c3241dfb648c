// The results of running a kernel. The rows are made of evidence, which others wrote: all texts are
// escaped by the functions of html_parts.h, and each list and table has a bound.

#include "client/catalog/pages/execution_section.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/catalog/pages/highlight.h"
#include "client/catalog/pages/html_parts.h"
#include "common/code/lexer.h"
#include "common/words/counted.h"

namespace kernelmill::client {
namespace {

// Limits in bytes of HTML; together they are less than kernel_page.cc leaves for the section.
constexpr size_t kMaxOutcomes = 8'000;
constexpr size_t kMaxCases = 16'000;
constexpr size_t kMaxMutants = 4'000;
constexpr size_t kMaxSpeeds = 8'000;
constexpr size_t kMaxComparisons = 8'000;
constexpr size_t kMaxReference = 24'000;

constexpr int kMaxDevicesNamed = 3;   // in the sentence
constexpr int kMaxTypes = 16;         // with a tolerance
constexpr int kMaxChain = 16;         // names from the test to the kernel
constexpr int kMaxArguments = 24;     // of a case
constexpr size_t kMaxArgument = 120;  // bytes of a value

struct Words {
  absl::string_view word;
  absl::string_view text;
};

// Returns the text for a word; the word itself, escaped, if it is not in the table.
template <size_t kSize>
std::string Explain(const Words (&table)[kSize], absl::string_view word) {
  for (const Words& entry : table) {
    if (entry.word == word) return std::string(entry.text);
  }
  return Short(word);
}

constexpr Words kNotVerified[] = {
    {"different", "an execution was different"},
    {"no_reference", "no test is known to compare it with a reference"},
    {"no_adequacy", "it was not measured what its cases would notice"},
    {"low_adequacy", "its cases would notice too few mistakes"},
    {"no_hidden_case", "all of its cases are shown"}};

constexpr Words kStatuses[] = {
    {"reference", "It compares the kernel’s result with a reference."},
    {"no_comparison", "It reaches the kernel and compares nothing that was understood."},
    {"other_comparison", "It compares something else than this kernel’s result."},
    {"same_path", "Both sides of its comparison come from the kernel."},
    {"no_reference", "The expected value could not be written by itself."},
    {"benchmark", "It is a benchmark."}};

// Returns "tests/test_softmax.py:3-9", or ":3" for a single line.
std::string Place(absl::string_view path, int64_t first, int64_t last) {
  return absl::StrCat(path, ":", first, last > first ? absl::StrCat("-", last) : "");
}

std::string Device(absl::string_view device) {
  if (device == "cpu") return "CPU (Triton’s interpreter)";
  if (absl::StartsWith(device, "cuda:")) {
    return absl::StrCat("NVIDIA GPU (", Short(device, 40), ")");
  }
  return Short(device, 40);
}

int64_t CountRuns(const v1::TaskRow::Outcomes& of) {
  return of.exact() + of.close() + of.different() + of.error() + of.unknown();
}

// Returns "exact on 3, close on 1 of 4 cases". A case may have run several times; they are runs
// then.
std::string OutcomeWords(const v1::TaskRow::Outcomes& of, int64_t cases) {
  const std::pair<const char*, int64_t> counts[] = {{"exact", of.exact()},
                                                    {"close", of.close()},
                                                    {"different", of.different()},
                                                    {"an error", of.error()},
                                                    {"not judged", of.unknown()}};
  std::vector<std::string> words;
  for (const auto& [word, count] : counts) {
    if (count > 0) words.push_back(absl::StrCat(word, " on ", count));
  }
  const int64_t runs = CountRuns(of);
  return absl::StrCat(absl::StrJoin(words, ", "), " of ",
                      Counted(runs, runs > cases ? "run" : "case"));
}

std::string Verdict(const v1::TaskRow& task) {
  if (task.verified()) {
    return "<span class=\"ok\">verified</span>: a test compares it with a reference, and its cases "
           "notice most mistakes";
  }
  return absl::StrCat("<span class=\"warned\">not verified</span>: ",
                      Explain(kNotVerified, task.not_verified()));
}

std::string OutcomesTable(const v1::TaskRow& task) {
  Bounded rows(kMaxOutcomes);
  for (const v1::TaskRow::Outcomes& of : task.outcomes()) {
    rows.Add(Row({Device(of.device()), Short(of.toolchain()), absl::StrCat(of.exact()),
                  absl::StrCat(of.close()), absl::StrCat(of.different()), absl::StrCat(of.error()),
                  absl::StrCat(of.unknown()), absl::StrFormat("%.3g", of.relative())}));
  }
  return WideTable("Executions by device",
                   {"Device", "Toolchain", "Exact", "Close", "Different", "Error", "Not judged",
                    "Largest relative difference"},
                   rows);
}

// Returns "x: float32 [4, 128]", "n: 128".
std::string ArgumentHtml(const v1::TaskRow::Argument& argument) {
  const std::string value =
      argument.kind() == "tensor"
          ? absl::StrCat(argument.dtype(), " ", argument.shape(), argument.written() ? " out" : "")
      : argument.kind() == "none" ? "None"
                                  : std::string(argument.value());
  return InlineCode(absl::StrCat(argument.name(), ": ", value), kMaxArgument);
}

std::string CasesTable(const v1::TaskRow& task) {
  Bounded rows(kMaxCases);
  for (const v1::TaskRow::Case& one : task.cases()) {
    std::string arguments;
    for (int i = 0; i < std::min(one.arguments_size(), kMaxArguments); ++i) {
      absl::StrAppend(&arguments, i == 0 ? "" : ", ", ArgumentHtml(one.arguments(i)));
    }
    if (one.arguments_size() > kMaxArguments) arguments += ", &hellip;";
    const std::string options = absl::StrJoin(
        one.options(), ", ", [](std::string* out, const v1::KernelRow::NamedValue& option) {
          absl::StrAppend(out, option.name(), "=", option.value());
        });
    rows.Add(Row({InlineCode(one.grid(), 60), arguments, InlineCode(options), Short(one.origin()),
                  one.ragged() ? "yes" : ""}));
  }
  return absl::StrCat(
      WideTable("Cases", {"Grid", "Arguments", "Options", "Origin", "Ragged sizes"}, rows),
      task.hidden_cases().empty()
          ? ""
          : absl::StrCat("<p class=\"quiet\">", task.hidden_cases_size(),
                         " more replayed, and are kept for judging answers.</p>\n"));
}

std::string ToleranceHtml(const v1::TaskRow& task) {
  std::vector<std::string> types;
  for (int i = 0; i < std::min(task.tolerances_size(), kMaxTypes); ++i) {
    types.push_back(
        absl::StrCat(task.tolerances(i).value(), " for ", Short(task.tolerances(i).dtype(), 40)));
  }
  return absl::StrJoin(types, ", ");
}

// Returns the share of deliberate mistakes that the cases notice, and the mistakes by kind.
std::string AdequacyHtml(const v1::TaskRow& task) {
  if (!task.has_adequacy()) return "";
  Bounded rows(kMaxMutants);
  for (const v1::TaskRow::Adequacy::Mutants& mutants : task.adequacy().mutants()) {
    rows.Add(Row({InlineCode(mutants.kind()), absl::StrCat(mutants.total()),
                  absl::StrCat(mutants.caught()), absl::StrCat(mutants.equivalent())}));
  }
  return absl::StrCat("<h3>Mistakes that the cases notice</h3>\n<p>",
                      absl::StrFormat("%.0f %%", 100 * task.adequacy().score()),
                      " of the kernel’s mutants, which are copies with one thing wrong.</p>\n",
                      WideTable("Mutants", {"Mistake", "Mutants", "Caught", "Equivalent"}, rows));
}

std::string SpeedTable(const v1::TaskRow& task) {
  const auto number = [](bool has, double value) {
    return has ? absl::StrFormat("%.4g", value) : "";
  };
  Bounded rows(kMaxSpeeds);
  for (const v1::TaskRow::Speed& speed : task.speed()) {
    rows.Add(Row(
        {Device(speed.hardware().empty() ? speed.device() : speed.hardware()),
         Short(speed.toolchain()),
         speed.sizes().empty() ? InlineCode(speed.case_id().substr(0, 12)) : Short(speed.sizes()),
         speed.fills() ? "yes" : "no", number(true, speed.median_us()),
         number(speed.has_eager_us(), speed.eager_us()),
         number(speed.has_compiled_us(), speed.compiled_us()),
         number(speed.has_roofline(), speed.roofline())}));
  }
  const std::string table =
      WideTable("Speed",
                {"Device", "Toolchain", "Case", "Fills the device", "Median, µs", "Reference, µs",
                 "Reference compiled, µs", "Share of the roofline"},
                rows);
  return table.empty() ? "" : absl::StrCat("<h3>Speed</h3>\n", table);
}

std::string TaskHtml(const v1::TaskRow& task) {
  return absl::StrCat("<p>It is ", Verdict(task),
                      ". Exact: all bytes are those of the case; close: within the ",
                      "tolerance.</p>\n", OutcomesTable(task), "<h3>Cases</h3>\n", CasesTable(task),
                      Facts(Fact("Tolerance, as a share of a value’s size", ToleranceHtml(task))),
                      AdequacyHtml(task), SpeedTable(task));
}

// Returns the test with its comparisons.
std::string TestHtml(const v1::ReferenceRow& row) {
  if (!row.has_test()) return "";
  const v1::ReferenceRow::Test& test = row.test();
  Bounded comparisons(kMaxComparisons);
  for (const v1::ReferenceRow::Comparison& comparison : row.comparisons()) {
    comparisons.Add(absl::StrCat("<li>", InlineCode(comparison.text(), 500), "</li>\n"));
  }
  std::vector<std::string> chain;
  for (int i = 0; i < std::min(row.chain_size(), kMaxChain); ++i) {
    chain.push_back(InlineCode(row.chain(i), 80));
  }
  return absl::StrCat(
      "<h3>Test</h3>\n<p>", InlineCode(test.qualname()), " in ",
      Link(test.url(), Place(test.path(), test.first_line(), test.last_line())), ". ",
      Explain(kStatuses, row.status()), "</p>\n",
      Facts(absl::StrCat(Fact("Reaches the kernel by", absl::StrJoin(chain, " → ")),
                         Fact("Compares", comparisons.html().empty()
                                              ? ""
                                              : absl::StrCat("<ul class=\"plain\">\n",
                                                             comparisons.html(), "</ul>\n")))),
      comparisons.Rest());
}

std::string ReferenceHtml(const v1::ReferenceRow::Reference& reference) {
  const HighlightedCode code =
      HighlightCode(reference.module(), code::Language::kPython, 1, false, kMaxReference);
  return absl::StrCat(
      "<h3>Reference</h3>\n<p>The test compares with ",
      reference.name().empty() ? "this code" : InlineCode(reference.name()), ", from ",
      Name(Place(reference.path(), reference.first_line(), reference.last_line())),
      reference.self_contained() ? "" : "; it needs more of its source", ".</p>\n",
      "<pre class=\"code tall\" tabindex=\"0\"><code>", code.html, "</code></pre>\n",
      code.cut ? "<p class=\"note\">The rest is not shown.</p>\n" : "");
}

}  // namespace

std::string ExecutionLine(const ExecutionRows& rows) {
  if (rows.task == nullptr || rows.task->outcomes().empty()) return "";
  const v1::TaskRow& task = *rows.task;
  std::vector<std::string> devices;
  for (int i = 0; i < std::min(task.outcomes_size(), kMaxDevicesNamed); ++i) {
    devices.push_back(absl::StrCat("on ", Device(task.outcomes(i).device()), ": ",
                                   OutcomeWords(task.outcomes(i), task.cases_total())));
  }
  if (task.outcomes_size() > kMaxDevicesNamed) devices.push_back("and elsewhere");
  return absl::StrCat("<p class=\"ran\"><a href=\"#execution\">Ran</a> ",
                      absl::StrJoin(devices, "; "), "; ", Verdict(task), ".</p>\n");
}

std::string ExecutionSection(const ExecutionRows& rows) {
  std::string html;
  if (rows.task != nullptr) html += TaskHtml(*rows.task);
  if (rows.reference != nullptr) {
    html += TestHtml(*rows.reference);
    if (rows.reference->has_reference()) html += ReferenceHtml(rows.reference->reference());
  }
  return Folded("execution",
                rows.task != nullptr ? "Executions, test and reference" : "Test and reference",
                html);
}

}  // namespace kernelmill::client
