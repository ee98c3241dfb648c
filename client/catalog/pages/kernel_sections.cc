#include "client/catalog/pages/kernel_sections.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/catalog/pages/difference.h"
#include "client/catalog/pages/get_again.h"
#include "client/catalog/pages/highlight.h"
#include "client/catalog/pages/html_parts.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

// Bytes of HTML, so that all sections of the largest page are less than kMaxPage.
constexpr size_t kMaxLauncher = 40'000;
constexpr size_t kMaxDifference = 80'000;
constexpr size_t kMaxTable = 30'000;
constexpr size_t kMaxList = 15'000;
constexpr char kRoot[] = "../../";

std::string ListOf(const Bounded& items) {
  if (items.html().empty()) return items.Rest();
  return absl::StrCat("<ul class=\"plain\">\n", items.html(), "</ul>\n", items.Rest());
}

// "BLOCK=128, num_warps=4".
std::string Values(const NamedValues& values) {
  return absl::StrJoin(values, ", ", [](std::string* out, const auto& value) {
    absl::StrAppend(out, value.first, "=", value.second);
  });
}

// A file's lines on the forge, at the commit: as the kernel's own link has them.
std::string LinkInRepository(const CatalogKernel& kernel, const std::string& path, int first,
                             int last) {
  const std::string place = first > 0 ? absl::StrCat(path, ":", first) : path;
  const size_t at = kernel.url.find(absl::StrCat("/", kernel.commit, "/"));
  if (WebUrl(kernel.url).empty() || at == std::string::npos || path.empty() ||
      !absl::StrContains(kernel.url, "#L")) {
    return Name(place);
  }
  const std::string escaped = absl::StrReplaceAll(path, {{"%", "%25"}, {"#", "%23"}, {"?", "%3F"}});
  return Link(
      absl::StrCat(
          kernel.url.substr(0, at + kernel.commit.size() + 2), escaped,
          first > 0 ? absl::StrCat("#L", first, last > first ? absl::StrCat("-L", last) : "") : ""),
      place);
}

std::string Number(const std::optional<int64_t>& number) {
  return number.has_value() ? absl::StrCat(*number) : "";
}

// A word that is good, bad or neither.
std::string Outcome(absl::string_view word, absl::string_view good, absl::string_view bad) {
  const char* kind = word == good ? "ok" : word == bad ? "bad" : "note";
  return absl::StrCat("<span class=\"", kind, "\">", Short(word), "</span>");
}

std::string NoticeLink(const KernelPageInput& input, const std::string& path) {
  for (const auto& [notice, page] : input.notices) {
    if (notice == path) {
      return absl::StrCat("<a href=\"", kRoot, "notices/", page, "\">", Name(path), "</a>");
    }
  }
  return Name(path);
}

const char* KindOf(DifferenceRow::Kind kind) {
  switch (kind) {
    case DifferenceRow::Kind::kSame:
      return "same";
    case DifferenceRow::Kind::kChanged:
      return "change";
    case DifferenceRow::Kind::kLeftOnly:
      return "del";
    case DifferenceRow::Kind::kRightOnly:
      return "add";
    case DifferenceRow::Kind::kSkipped:
      return "skip";
  }
  return "";
}

std::string LineNumber(int line, int first) {
  return line == 0 ? "" : absl::StrCat(line + first - 1);
}

std::string DifferenceTable(const KernelPageInput& input) {
  const CatalogKernel& kernel = input.kernel;
  std::string lines;
  bool cut = false;
  for (const DifferenceRow& row : CompareLines(kernel.source, input.compared_source)) {
    if (lines.size() > kMaxDifference) {
      cut = true;
      break;
    }
    if (row.kind == DifferenceRow::Kind::kSkipped) {
      absl::StrAppend(&lines, "<tr class=\"skip\"><td colspan=\"4\">", row.skipped,
                      row.skipped == 1 ? " line is" : " lines are", " the same</td></tr>\n");
      continue;
    }
    absl::StrAppend(&lines, "<tr class=\"", KindOf(row.kind), "\"><td class=\"n\">",
                    LineNumber(row.left_line, kernel.first_line), "</td><td class=\"a\">",
                    HtmlCode(row.left.substr(0, 1000)), "</td><td class=\"n\">",
                    LineNumber(row.right_line, input.compared->first_line), "</td><td class=\"b\">",
                    HtmlCode(row.right.substr(0, 1000)), "</td></tr>\n");
  }
  const std::string columns =
      absl::StrCat("<thead><tr><th scope=\"col\" colspan=\"2\">", Name(kernel.qualname),
                   "</th><th scope=\"col\" colspan=\"2\">", KernelLink(kRoot, *input.compared),
                   "</th></tr></thead>\n");
  return absl::StrCat("<div class=\"scroll\" role=\"region\" tabindex=\"0\" ",
                      "aria-label=\"Differences, side by side\">\n<table class=\"diff\">\n",
                      columns, "<tbody>\n", lines, "</tbody>\n</table>\n</div>\n",
                      cut ? "<p class=\"note\">The rest is not shown.</p>\n" : "");
}

Bounded RelativeRows(const KernelPageInput& input) {
  Bounded rows(kMaxTable);
  for (const ShownRelative& shown : input.relatives) {
    const CatalogEntry& entry = *shown.entry;
    rows.Add(Row({KernelLink(kRoot, entry), Short(shown.relative.why),
                  absl::StrFormat("%.2f", shown.relative.similarity),
                  entry.backward() ? "backward" : "", Short(entry.dsl), Short(entry.license, 60)}));
  }
  return rows;
}

Bounded DuplicateRows(const Duplicates& duplicates) {
  Bounded rows(kMaxTable);
  for (const Duplicate& duplicate : duplicates.first) {
    rows.Add(Row({Name(duplicate.repository),
                  Link(duplicate.url, absl::StrCat(duplicate.path, ":", duplicate.first_line)),
                  Short(duplicate.reason), absl::StrFormat("%.2f", duplicate.similarity)}));
  }
  return rows;
}

Bounded CompileRows(const CompileEvidence& compile) {
  Bounded rows(kMaxTable);
  for (const CompileImport& import : compile.imports) {
    rows.Add(
        Row({Short(import.toolchain), "import", Outcome(import.ok ? "ok" : "error", "ok", "error"),
             Short(import.error, 500), Number(import.line), "", "", "", ""}));
  }
  for (const CompileResult& result : compile.results) {
    std::string what = result.message.empty() ? result.missing : result.message;
    if (!result.stage.empty()) what = absl::StrCat(result.stage, ": ", what);
    // Of a guess the message alone would read as the kernel's fault.
    if (absl::StartsWith(result.missing, "type:") ||
        absl::StartsWith(result.missing, "constexpr:")) {
      const std::string missing = absl::StrCat(result.missing, " could not be told");
      what = result.message.empty() ? missing : absl::StrCat(missing, "; as guessed: ", what);
    }
    rows.Add(Row({Short(result.toolchain), Short(result.target),
                  Outcome(result.status, "ok", "error"), Short(what, 500), Number(result.line),
                  Number(result.registers), Number(result.shared_bytes), Number(result.spill_bytes),
                  Number(result.instructions)}));
  }
  return rows;
}

}  // namespace

std::string ParametersSection(const CatalogKernel& kernel) {
  Bounded rows(kMaxTable);
  for (const CatalogParameter& parameter : kernel.parameters) {
    rows.Add(
        Row({InlineCode(parameter.name), Short(parameter.role), InlineCode(parameter.annotation),
             InlineCode(parameter.default_value), Short(parameter.rule)}));
  }
  const std::string table =
      WideTable("Parameters",
                {"Parameter", "Role", "Annotation", "Default", "Rule that gave the role"}, rows);
  const auto language = kernel.dsl == "cuda" ? code::Language::kC : code::Language::kPython;
  const std::string signature = HighlightCode(kernel.signature, language, 1, false, 20'000).html;
  if (signature.empty() && table.empty()) return "";
  return Section("parameters", "Signature and parameters",
                 absl::StrCat("<pre class=\"code\" tabindex=\"0\"><code>", signature,
                              "</code></pre>\n", table));
}

std::string AutotuneSection(const CatalogKernel& kernel) {
  if (!kernel.autotune.has_value()) return "";
  const CatalogAutotune& autotune = *kernel.autotune;
  Bounded rows(kMaxTable);
  for (const CatalogConfig& config : autotune.configs) {
    rows.Add(Row({InlineCode(Values(config.kwargs)), InlineCode(Values(config.options))}));
  }
  std::string html;
  if (!autotune.key.empty()) {
    absl::StrAppend(&html, "<p>Chosen anew for each ",
                    InlineCode(absl::StrJoin(autotune.key, ", ")), ".</p>\n");
  }
  if (!autotune.resolved) {
    absl::StrAppend(&html, "<p>The file does not tell the configurations: ",
                    InlineCode(autotune.expression, 500), "</p>\n");
  }
  absl::StrAppend(&html, WideTable("Configurations", {"Of the kernel", "Of the compiler"}, rows));
  return Section("autotune", "Autotune configurations", html);
}

std::string LauncherSection(const CatalogKernel& kernel) {
  if (!kernel.launcher.has_value()) return "";
  const CatalogLauncher& launcher = *kernel.launcher;
  std::string html = absl::StrCat(
      "<p>", launcher.qualname.empty() ? "A statement" : InlineCode(launcher.qualname), " of ",
      LinkInRepository(kernel, launcher.path, launcher.first_line, launcher.last_line),
      launcher.count > 1 ? absl::StrCat(", the first of ", launcher.count, " that launch it") : "",
      ".</p>\n");
  if (!launcher.text.empty()) {
    const auto language = kernel.dsl == "cuda" ? code::Language::kC : code::Language::kPython;
    const HighlightedCode code =
        HighlightCode(launcher.text, language, launcher.first_line, false, kMaxLauncher);
    absl::StrAppend(&html, "<pre class=\"code\" tabindex=\"0\"><code>", code.html,
                    "</code></pre>\n",
                    code.cut ? "<p class=\"note\">The rest is not shown.</p>\n" : "");
  }
  return Section("usage", "Minimal usage: its launcher", html);
}

std::string LicenseSection(const KernelPageInput& input) {
  const CatalogLicense& license = input.kernel.license;
  Bounded copyrights(kMaxList);
  for (const std::string& line : license.copyrights) {
    copyrights.Add(absl::StrCat("<li>", Name(line), "</li>\n"));
  }
  Bounded notices(kMaxList);
  for (const std::string& path : license.notices) {
    notices.Add(absl::StrCat("<li>", NoticeLink(input, path), "</li>\n"));
  }
  Bounded origins(kMaxList);
  for (const CatalogLicense::Origin& origin : license.adapted_from) {
    origins.Add(absl::StrCat("<li>", Name(origin.origin), ", says ",
                             LinkInRepository(input.kernel, origin.path, origin.line, 0),
                             "</li>\n"));
  }
  Bounded rows(kMaxTable);
  for (const CatalogLicense::Found& found : license.found) {
    rows.Add(
        Row({Short(found.expression), Short(found.rule), NoticeLink(input, found.path),
             found.first_line == 0 ? "" : absl::StrCat(found.first_line, "-", found.last_line)}));
  }
  const std::string facts = absl::StrCat(
      Fact("Licence", Name(license.expression)), Fact("Evidence", Short(license.evidence)),
      Fact("Certainty", absl::StrFormat("%.2f", license.confidence)),
      Fact("Copyright", ListOf(copyrights)), Fact("Notices", ListOf(notices)),
      Fact("Adapted from", ListOf(origins)),
      Fact("Other people's code in", InlineCode(license.vendored)));
  return Section(
      "license", "Licence",
      absl::StrCat(Facts(facts), WideTable("What the licence was found by",
                                           {"Expression", "Rule", "File", "Lines"}, rows)));
}

std::string ProvenanceSection(const CatalogKernel& kernel) {
  const std::string lines =
      absl::StrCat(kernel.path, ":", kernel.first_line, "-", kernel.last_line);
  std::string again;
  const std::string commands = GetAgainCommands(kernel);
  if (!commands.empty()) {
    again = absl::StrCat(
        "<h3>Get this file again</h3>\n<button type=\"button\" class=\"copy js-only\" "
        "data-copy=\"get-file\">Copy the commands</button>\n<pre class=\"code\" "
        "tabindex=\"0\"><code "
        "id=\"get-file\">",
        HtmlCode(commands), "</code></pre>\n");
  }
  return Section(
      "provenance", "Provenance",
      absl::StrCat(
          Facts(absl::StrCat(
              Fact("Repository", Link(kernel.repository_url, kernel.repository)),
              Fact("Commit", InlineCode(kernel.commit)), Fact("Lines", Link(kernel.url, lines)),
              Fact("In the JSON string", InlineCode(kernel.json_pointer)),
              Fact("SHA-256 of the source", InlineCode(kernel.sha256)),
              Fact("Found as", kernel.form.empty() ? ""
                                                   : absl::StrCat(Short(kernel.form), " ",
                                                                  InlineCode(kernel.found_by))),
              Fact("Requires Triton",
                   kernel.requires_triton.empty()
                       ? ""
                       : absl::StrCat(InlineCode(kernel.requires_triton), ", says ",
                                      LinkInRepository(kernel, kernel.requires_triton_path, 0, 0))),
              Fact("Split", Short(kernel.split)), Fact("Category", Name(kernel.category)),
              Fact("Id", InlineCode(kernel.id)))),
          again));
}

std::string ChecksSection(const CatalogKernel& kernel) {
  Bounded rows(kMaxTable);
  for (const auto& [check, outcome] : kernel.checks) {
    std::string why;
    for (const auto& [of, reason] : kernel.check_reasons) {
      if (of == check) why = reason;
    }
    rows.Add(Row({InlineCode(check), Outcome(outcome, "pass", "fail"), Short(why, 500)}));
  }
  return Section(
      "checks", "Checks",
      absl::StrCat(
          WideTable("Checks", {"Check", "Outcome", "Reason"}, rows),
          Facts(Fact("Score", absl::StrFormat("%.3f, tier %d", kernel.score, kernel.tier)))));
}

std::string CompileSection(const CatalogKernel& kernel) {
  if (!kernel.compile.has_value()) return "";
  const CompileEvidence& compile = *kernel.compile;
  if (!compile.not_attempted.empty()) {
    return Section(
        "compile", "Compiled",
        absl::StrCat("<p>It was not compiled: ", Short(compile.not_attempted), ".</p>\n"));
  }
  Bounded signatures(kMaxList);
  for (const std::string& signature : compile.signatures) {
    signatures.Add(absl::StrCat("<li>", InlineCode(signature, 4000), "</li>\n"));
  }
  const std::string arguments = ListOf(signatures);
  return Section(
      "compile", "Compiled",
      absl::StrCat(
          WideTable("What compilers said",
                    {"Toolchain", "Target", "Status", "Message", "Line of the module", "Registers",
                     "Shared memory", "Spilled", "Instructions"},
                    CompileRows(compile)),
          arguments.empty() ? "" : "<p>With these arguments, each by the rule in brackets:</p>\n",
          arguments));
}

std::string TestsSection(const CatalogKernel& kernel) {
  Bounded items(kMaxList);
  for (const std::string& path : kernel.tests) {
    items.Add(absl::StrCat("<li>", LinkInRepository(kernel, path, 0, 0), "</li>\n"));
  }
  return Section("tests", "Tests that launch it", ListOf(items));
}

std::string RelativesSection(const KernelPageInput& input) {
  std::string html;
  if (input.duplicates != nullptr && input.duplicates->count > 0) {
    const int64_t count = input.duplicates->count;
    absl::StrAppend(&html, "<h3>Duplicates that were left out</h3>\n",
                    WideTable("Duplicates", {"Repository", "Place", "Reason", "Similarity"},
                              DuplicateRows(*input.duplicates)),
                    count > static_cast<int64_t>(kMaxDuplicates)
                        ? absl::StrCat("<p class=\"note\">", count, " in all.</p>\n")
                        : "");
  }
  absl::StrAppend(
      &html, input.relatives.empty() ? "" : "<h3>Nearest relatives</h3>\n",
      WideTable("Relatives", {"Kernel", "Why", "Alike", "Direction", "Language", "Licence"},
                RelativeRows(input)));
  if (input.compared != nullptr) {
    absl::StrAppend(&html, "<details>\n<summary>Beside the nearest</summary>\n",
                    DifferenceTable(input), "</details>\n");
  }
  return Section("relatives", "Duplicates and relatives", html);
}

}  // namespace kernelmill::client
