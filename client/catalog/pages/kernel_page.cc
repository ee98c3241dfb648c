// The page of one kernel. It is a list of sections; KernelPage at the end of this file has their
// order. A section without content returns an empty text and gets neither a heading nor a link.
//
// Each section bounds its HTML, and together the bounds stay below kMaxPage, so a page never fails
// for its size. The page says where it cuts something. All text comes from repositories: it
// reaches the page through the functions of html_parts.h or through HtmlCode, which escape it.

#include "client/catalog/pages/kernel_page.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/catalog/pages/difference.h"
#include "client/catalog/pages/highlight.h"
#include "client/catalog/pages/html_parts.h"
#include "client/catalog/web/page.h"
#include "common/base/path.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "common/code/lexer.h"
#include "common/code/python.h"
#include "common/dsl/languages.h"
#include "common/dsl/launcher_syntax.h"
#include "common/text/safe_text.h"
#include "common/words/counted.h"
#include "common/words/enum_words.h"
#include "dataset/training/host_code.h"

namespace kernelmill::client {
namespace {

constexpr size_t kMaxRead = 64 << 10;  // larger code is not parsed for its names

// Returns the text as one quoted word of a shell.
std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// Returns whether a text is printable ASCII: text that a person can check before pasting it into a
// shell.
bool IsPlain(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f;
  });
}

// Returns the URL of the file on forges that serve single files; otherwise empty.
std::string RawUrl(const v1::KernelRow& kernel) {
  const absl::string_view url = absl::StripSuffix(kernel.repository_url(), ".git");
  const std::string path = PercentEncoded(kernel.path(), kUnreservedInPath);
  if (absl::StartsWith(url, "https://github.com/")) {
    return absl::StrCat(url, "/raw/", kernel.commit(), "/", path);
  }
  if (absl::StartsWith(url, "https://gitlab.")) {
    return absl::StrCat(url, "/-/raw/", kernel.commit(), "/", path);
  }
  return "";
}

// Limits in bytes of HTML. All sections together are less than kMaxPage.
constexpr size_t kMaxLauncher = 40'000;
constexpr size_t kMaxDifference = 80'000;
constexpr size_t kMaxTable = 30'000;
constexpr size_t kMaxList = 15'000;
constexpr char kRoot[] = "../../";

// Returns a list, with a note if items are left out; empty without items.
std::string ListHtml(const Bounded& items, absl::string_view kind = "plain") {
  if (items.html().empty()) return items.Rest();
  return absl::StrCat("<ul class=\"", kind, "\">\n", items.html(), "</ul>\n", items.Rest());
}

// Returns "BLOCK=128, num_warps=4".
std::string Values(const google::protobuf::RepeatedPtrField<v1::KernelRow::NamedValue>& values) {
  return absl::StrJoin(values, ", ", [](std::string* out, const auto& value) {
    absl::StrAppend(out, value.name(), "=", value.value());
  });
}

// Returns a link to a file's lines on the forge, at the commit, built like the kernel's own link.
std::string LinkInRepository(const v1::KernelRow& kernel, const std::string& path, int first,
                             int last) {
  const std::string place = first > 0 ? absl::StrCat(path, ":", first) : path;
  // A forge's URL of lines is PREFIX/COMMIT/PATH#L1-L2. Other URLs, such as those of packages, do
  // not tell where another file is, so they give plain text.
  const size_t at = kernel.url().find(absl::StrCat("/", kernel.commit(), "/"));
  if (WebUrl(kernel.url()).empty() || at == std::string::npos || path.empty() ||
      !absl::StrContains(kernel.url(), "#L")) {
    return Name(place);
  }
  const std::string escaped = absl::StrReplaceAll(path, {{"%", "%25"}, {"#", "%23"}, {"?", "%3F"}});
  return Link(
      absl::StrCat(
          kernel.url().substr(0, at + kernel.commit().size() + 2), escaped,
          first > 0 ? absl::StrCat("#L", first, last > first ? absl::StrCat("-L", last) : "") : ""),
      place);
}

std::string NumberIf(bool has, int64_t number) { return has ? absl::StrCat(number) : ""; }

// Returns a word with the class for good, bad or neither.
std::string Outcome(absl::string_view word, absl::string_view good, absl::string_view bad) {
  const char* kind = word == good ? "ok" : word == bad ? "bad" : "note";
  return absl::StrCat("<span class=\"", kind, "\">", Short(word), "</span>");
}

// Returns a link to the site's own page of a notice; the path as text if the site has no such page.
std::string NoticeLink(const KernelPageInput& input, const std::string& path) {
  for (const auto& [notice, page] : input.notices) {
    if (notice == path) {
      return absl::StrCat("<a href=\"", kRoot, "notices/", page, "\">", Name(path), "</a>");
    }
  }
  return Name(path);
}

// Returns the class of a row in the comparison.
const char* KindWord(DifferenceRow::Kind kind) {
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

// Returns a line's number in the file; empty on the side that lacks the line.
std::string LineNumber(int line, int first) {
  return line == 0 ? "" : absl::StrCat(line + first - 1);
}

// Returns the table of the kernel and its nearest relative side by side, with the line numbers of
// their files.
std::string DifferenceTable(const KernelPageInput& input) {
  const v1::KernelRow& kernel = input.kernel;
  std::string lines;
  bool cut = false;
  for (const DifferenceRow& row : CompareLines(kernel.source(), input.compared_source)) {
    if (lines.size() > kMaxDifference) {
      cut = true;
      break;
    }
    if (row.kind == DifferenceRow::Kind::kSkipped) {
      absl::StrAppend(&lines, "<tr class=\"skip\"><td colspan=\"4\">", row.skipped,
                      row.skipped == 1 ? " equal line" : " equal lines", "</td></tr>\n");
      continue;
    }
    absl::StrAppend(&lines, "<tr class=\"", KindWord(row.kind), "\"><td class=\"n\">",
                    LineNumber(row.left_line, kernel.first_line()), "</td><td class=\"a\">",
                    HtmlCode(row.left.substr(0, 1000)), "</td><td class=\"n\">",
                    LineNumber(row.right_line, input.compared->first_line), "</td><td class=\"b\">",
                    HtmlCode(row.right.substr(0, 1000)), "</td></tr>\n");
  }
  const std::string columns =
      absl::StrCat("<thead><tr><th scope=\"col\" colspan=\"2\">", Name(kernel.qualname()),
                   "</th><th scope=\"col\" colspan=\"2\">", KernelLink(kRoot, *input.compared),
                   "</th></tr></thead>\n");
  return absl::StrCat("<div class=\"scroll\" role=\"region\" tabindex=\"0\" ",
                      "aria-label=\"Differences, side by side\">\n<table class=\"diff\">\n",
                      columns, "<tbody>\n", lines, "</tbody>\n</table>\n</div>\n",
                      cut ? "<p class=\"note\">The rest is not shown.</p>\n" : "");
}

// Returns one row for each relative, the nearest first.
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

// Returns the rows of the compile table: first the imports of the module, then one row for each
// toolchain and target.
Bounded CompileRows(const v1::KernelRow::Compile& compile) {
  Bounded rows(kMaxTable);
  for (const v1::KernelRow::Compile::Import& import : compile.imports()) {
    rows.Add(Row({Short(import.toolchain()), "import",
                  Outcome(import.ok() ? "ok" : "error", "ok", "error"), Short(import.error(), 500),
                  NumberIf(import.line() > 0, import.line()), "", "", "", ""}));
  }
  for (const v1::KernelRow::Compile::Result& result : compile.results()) {
    std::string what = result.message().empty() ? result.missing() : result.message();
    if (!result.stage().empty()) what = absl::StrCat(result.stage(), ": ", what);
    // A guess was compiled: its message alone would blame the kernel.
    if (absl::StartsWith(result.missing(), "type:") ||
        absl::StartsWith(result.missing(), "constexpr:")) {
      const std::string missing = absl::StrCat(result.missing(), " is unknown");
      what = result.message().empty() ? missing : absl::StrCat(missing, "; with a guess: ", what);
    }
    rows.Add(Row({Short(result.toolchain()), Short(result.target()),
                  Outcome(ToWord(result.status()), "ok", "error"), Short(what, 500),
                  NumberIf(result.line() > 0, result.line()),
                  NumberIf(result.has_registers(), result.registers()),
                  NumberIf(result.has_shared_bytes(), result.shared_bytes()),
                  NumberIf(result.has_spill_bytes(), result.spill_bytes()),
                  NumberIf(result.has_instructions(), result.instructions())}));
  }
  return rows;
}

// Returns the signature as code, and a table of the parameters with the rule that gave each its
// role.
std::string ParametersSection(const v1::KernelRow& kernel) {
  Bounded rows(kMaxTable);
  for (const v1::KernelRow::Parameter& parameter : kernel.parameters()) {
    rows.Add(Row({InlineCode(parameter.name()), Short(ToWord(parameter.role())),
                  InlineCode(parameter.annotation()), InlineCode(parameter.default_()),
                  Short(parameter.rule())}));
  }
  const std::string table = WideTable(
      "Parameters", {"Parameter", "Role", "Annotation", "Default", "Rule for the role"}, rows);
  const auto language = dsl::GetSyntax(kernel.dsl());
  const std::string signature = HighlightCode(kernel.signature(), language, 1, false, 20'000).html;
  if (signature.empty() && table.empty()) return "";
  return Folded("parameters", "Signature and parameters",
                absl::StrCat("<p>A role says what a parameter is for; the rule says how that is "
                             "known.</p>\n<pre class=\"code\" tabindex=\"0\"><code>",
                             signature, "</code></pre>\n", table));
}

// Returns the configurations, one row each. If they are not in the file, the section shows the
// expression that makes them.
std::string AutotuneSection(const v1::KernelRow& kernel) {
  if (!kernel.has_autotune()) return "";
  const v1::KernelRow::Autotune& autotune = kernel.autotune();
  Bounded rows(kMaxTable);
  for (const v1::KernelRow::Autotune::Config& config : autotune.configs()) {
    rows.Add(Row({InlineCode(Values(config.kwargs())), InlineCode(Values(config.options()))}));
  }
  std::string html;
  if (!autotune.key().empty()) {
    absl::StrAppend(&html, "<p>Tuned again for each ",
                    InlineCode(absl::StrJoin(autotune.key(), ", ")), ".</p>\n");
  }
  if (!autotune.resolved()) {
    absl::StrAppend(&html, "<p>The configurations are not in the file: ",
                    InlineCode(autotune.expression(), 500), "</p>\n");
  }
  absl::StrAppend(&html, WideTable("Configurations", {"Kernel", "Compiler options"}, rows));
  return Folded("autotune", "Autotune configurations", html);
}

// Says what a reader must add to the module and the launcher so that they run: the names that
// neither defines. A launcher's file and a class around it are not on the page.
std::string MissingForLauncher(const v1::KernelRow& kernel) {
  if (dsl::IsC(kernel.dsl()) || kernel.module().empty()) {
    return "<p class=\"note\">The rest of its file is in the repository.</p>\n";
  }
  const std::string& text = kernel.launcher().text();
  std::optional<dataset::HostCode> host;
  if (text.size() <= kMaxRead && kernel.module().size() <= kMaxRead) {
    host = dataset::ReadHostCode(code::DedentPython(text).value_or(text), kernel.module(),
                                 kernel.name());
  }
  if (!host) return "<p class=\"note\">The rest of its file is in the repository.</p>\n";
  std::vector<std::string> names = host->names;
  names.insert(names.end(), host->launched.begin(), host->launched.end());
  if (names.empty()) {
    return "<p>It runs below the module: no name is missing.</p>\n";
  }
  Bounded items(kMaxList);
  for (const std::string& name : names) {
    items.Add(absl::StrCat("<li>", InlineCode(name), "</li>\n"));
  }
  return absl::StrCat(
      "<p class=\"warn\">It needs names that neither it nor the module defines; its file "
      "has or imports them:</p>\n",
      ListHtml(items, "plain names"));
}

// Returns the place and the text of the launcher, which shows how to call the kernel.
std::string LauncherSection(const v1::KernelRow& kernel) {
  if (!kernel.has_launcher()) return "";
  const v1::KernelRow::Launcher& launcher = kernel.launcher();
  std::string html = absl::StrCat(
      "<p>Launched by ",
      launcher.qualname().empty() ? "a statement" : InlineCode(launcher.qualname()), " in ",
      LinkInRepository(kernel, launcher.path(), launcher.first_line(), launcher.last_line()),
      launcher.count() > 1 ? absl::StrCat(", the first of ", launcher.count(), " launchers") : "",
      ".</p>\n");
  if (!launcher.text().empty()) {
    const auto language = dsl::GetLauncherSyntax(kernel, kernel.form() == v1::KERNEL_FORM_STRING);
    const HighlightedCode code =
        HighlightCode(launcher.text(), language, launcher.first_line(), false, kMaxLauncher);
    absl::StrAppend(&html, MissingForLauncher(kernel), "<pre class=\"code\" tabindex=\"0\"><code>",
                    code.html, "</code></pre>\n",
                    code.cut ? "<p class=\"note\">The rest is not shown.</p>\n" : "");
  }
  return Section("usage", "How to call it", html);
}

// Returns the licence with everything it rests on: copyright lines, notices, origins, and the
// evidence by file and lines, so that a reader can check it.
std::string LicenseSection(const KernelPageInput& input) {
  const v1::RowLicense& license = input.kernel.license();
  Bounded copyrights(kMaxList);
  for (const std::string& line : license.copyrights()) {
    copyrights.Add(absl::StrCat("<li>", Name(line), "</li>\n"));
  }
  Bounded notices(kMaxList);
  for (const std::string& path : license.notices()) {
    notices.Add(absl::StrCat("<li>", NoticeLink(input, path), "</li>\n"));
  }
  Bounded origins(kMaxList);
  for (const v1::RowLicense::Adaptation& origin : license.adapted_from()) {
    origins.Add(absl::StrCat("<li>", Name(origin.origin()), ", according to ",
                             LinkInRepository(input.kernel, origin.path(), origin.line(), 0),
                             "</li>\n"));
  }
  Bounded rows(kMaxTable);
  for (const v1::RowLicense::Evidence& found : license.found()) {
    rows.Add(Row(
        {Short(found.expression()), Short(found.rule()), NoticeLink(input, found.path()),
         found.first_line() == 0 ? "" : absl::StrCat(found.first_line(), "-", found.last_line())}));
  }
  const std::string facts = absl::StrCat(
      Fact("Licence", Name(license.expression())), Fact("Evidence", Short(license.evidence())),
      Fact("Confidence", absl::StrFormat("%.2f", license.confidence())),
      Fact("Copyright", ListHtml(copyrights)), Fact("Notices", ListHtml(notices)),
      Fact("Adapted from", ListHtml(origins)), Fact("Vendored in", InlineCode(license.vendored())));
  return Folded(
      "license", "Licence and its evidence",
      absl::StrCat(Facts(facts),
                   WideTable("Licence evidence", {"Expression", "Rule", "File", "Lines"}, rows)));
}

// Returns the origin of the text down to the commit and the lines, and commands that download it
// again.
std::string ProvenanceSection(const v1::KernelRow& kernel) {
  const std::string lines =
      absl::StrCat(kernel.path(), ":", kernel.first_line(), "-", kernel.last_line());
  std::string again;
  const std::string commands = GetAgainCommands(kernel);
  if (!commands.empty()) {
    again = absl::StrCat(
        "<h3>Download this file</h3>\n<button type=\"button\" class=\"copy js-only\" "
        "data-copy=\"get-file\">Copy the commands</button>\n<pre class=\"code\" "
        "tabindex=\"0\"><code "
        "id=\"get-file\">",
        HtmlCode(commands), "</code></pre>\n");
  }
  return Folded(
      "provenance", "Origin",
      absl::StrCat(
          Facts(absl::StrCat(
              Fact("Repository", Link(kernel.repository_url(), kernel.repository())),
              Fact("Commit", InlineCode(kernel.commit())), Fact("Lines", Link(kernel.url(), lines)),
              Fact("In the JSON string", InlineCode(kernel.json_pointer())),
              Fact("SHA-256 of the source", InlineCode(kernel.sha256())),
              Fact("Found as", kernel.form() == v1::KERNEL_FORM_UNSPECIFIED
                                   ? ""
                                   : absl::StrCat(Short(ToWord(kernel.form())), " ",
                                                  InlineCode(kernel.found_by()))),
              Fact("Requires Triton",
                   kernel.requires_triton().empty()
                       ? ""
                       : absl::StrCat(
                             InlineCode(kernel.requires_triton()), ", according to ",
                             LinkInRepository(kernel, kernel.requires_triton_path(), 0, 0))),
              Fact("Split", Short(kernel.split())), Fact("Category", Name(kernel.category())),
              Fact("Id", InlineCode(kernel.id())))),
          again));
}

// Returns the outcome of each check with its reason, and the score.
std::string ChecksSection(const v1::KernelRow& kernel) {
  Bounded rows(kMaxTable);
  for (const auto& [check, outcome] : ListChecks(kernel)) {
    std::string why;
    for (const auto& reason : kernel.check_reasons()) {
      if (reason.check() == check) why = reason.reason();
    }
    rows.Add(Row({InlineCode(check), Outcome(outcome, "pass", "fail"), Short(why, 500)}));
  }
  return Folded(
      "checks", "Checks and score",
      absl::StrCat(
          "<p>Each check asks one question of the text; <code>exempt</code>: it does not "
          "apply. The score, from 0 to 1, is their weighted sum; tier 1 is the best.</p>\n",
          WideTable("Checks", {"Check", "Outcome", "Reason"}, rows),
          Facts(Fact("Score",
                     absl::StrCat(absl::StrFormat("%.3f, tier %d", kernel.quality().score(),
                                                  kernel.quality().tier()),
                                  FailsToCompile(kernel)
                                      ? ", <span class=\"bad\">but it does not compile</span>"
                                      : "")))));
}

// Returns the compile results with the arguments that were used; the reason if nothing was
// compiled.
std::string CompileSection(const v1::KernelRow& kernel) {
  if (!kernel.has_compile()) return "";
  const v1::KernelRow::Compile& compile = kernel.compile();
  if (!compile.not_attempted().empty()) {
    return Folded("compile", "Compilers",
                  absl::StrCat("<p>Not compiled: ", Short(compile.not_attempted()), ".</p>\n"));
  }
  Bounded signatures(kMaxList);
  for (const auto& signature : compile.signatures()) {
    signatures.Add(absl::StrCat("<li>", InlineCode(ToText(signature), 4000), "</li>\n"));
  }
  const std::string arguments = ListHtml(signatures);
  return Folded(
      "compile", "Compilers",
      absl::StrCat(
          WideTable("Compile results",
                    {"Toolchain", "Target", "Status", "Message", "Line of the module", "Registers",
                     "Shared memory", "Spilled", "Instructions"},
                    CompileRows(compile)),
          arguments.empty() ? "" : "<p>Arguments, with the rule for each in brackets:</p>\n",
          arguments));
}

// A row of references.jsonl says more of the test, in the section of executions.
std::string TestsSection(const v1::KernelRow& kernel, const ExecutionRows& execution) {
  if (execution.reference != nullptr && execution.reference->has_test()) return "";
  Bounded items(kMaxList);
  for (const std::string& path : ListTestFiles(kernel)) {
    items.Add(absl::StrCat("<li>", LinkInRepository(kernel, path, 0, 0), "</li>\n"));
  }
  return Section("tests", "Tests that launch this kernel", ListHtml(items));
}

// Returns the duplicates that the dataset dropped, the related kernels, and the comparison with the
// nearest one. The comparison is folded.
std::string RelativesSection(const KernelPageInput& input) {
  std::string html;
  if (input.duplicates != nullptr && input.duplicates->count > 0) {
    const int64_t count = input.duplicates->count;
    absl::StrAppend(&html, "<h3>Dropped duplicates</h3>\n",
                    WideTable("Duplicates", {"Repository", "Place", "Reason", "Similarity"},
                              DuplicateRows(*input.duplicates)),
                    count > static_cast<int64_t>(kMaxDuplicates)
                        ? absl::StrCat("<p class=\"note\">", count, " in total.</p>\n")
                        : "");
  }
  absl::StrAppend(
      &html, input.relatives.empty() ? "" : "<h3>Related kernels</h3>\n",
      WideTable("Relatives",
                {"Kernel", "Relation", "Similarity", "Direction", "Language", "Licence"},
                RelativeRows(input)));
  if (input.compared != nullptr) {
    absl::StrAppend(&html, "<details>\n<summary>Compare with the nearest</summary>\n",
                    DifferenceTable(input), "</details>\n");
  }
  return Section("relatives", "Duplicates and related kernels", html);
}

constexpr size_t kMaxSource = 170'000;    // bytes of HTML
constexpr size_t kMaxModule = 230'000;    // bytes of HTML and base64
constexpr size_t kMaxNames = 15'000;      // bytes of HTML
constexpr size_t kMaxSentences = 40'000;  // bytes of HTML

// Returns the tags as links to the search for each tag.
std::string TagLinks(const v1::KernelRow& kernel) {
  std::string html;
  for (const std::string& tag : kernel.tags()) {
    absl::StrAppend(&html, "<a class=\"tag\" href=\"../../index.html#op=", PercentEncoded(tag, "_"),
                    "\">", Short(absl::StrReplaceAll(tag, {{"_", " "}})), "</a> ");
  }
  return html.empty() ? "" : absl::StrCat("<p>", html, "</p>\n");
}

// Lets a narrow screen break a name behind its underscores.
std::string Breakable(const std::string& name_html) {
  return absl::StrReplaceAll(name_html, {{"_", "_<wbr>"}});
}

// Returns the heading, a sentence, and on one line the facts that decide if a reader goes on.
std::string Lead(const v1::KernelRow& kernel, const ExecutionRows& execution) {
  const std::string summary = Summary(kernel);
  std::vector<std::string> facts = {
      Link(kernel.url(), absl::StrCat(kernel.repository(), " · ", kernel.path(), ":",
                                      kernel.first_line(), "-", kernel.last_line())),
      Name(kernel.license().expression()), Short(kernel.dsl()),
      absl::StrCat(Counted(CountLines(kernel), "line"), ", ",
                   Counted(kernel.tokens().cl100k_base(), "token")),
      absl::StrFormat("score %.2f of 1", kernel.quality().score())};
  if (!kernel.target().empty() && kernel.target() != "generic") {
    facts.push_back(absl::StrCat("for ", Short(kernel.target())));
  }
  if (FailsToCompile(kernel)) {
    facts.push_back("<a class=\"bad\" href=\"#compile\">does not compile</a>");
  }
  for (std::string& fact : facts) fact = absl::StrCat("<span class=\"fact\">", fact, "</span>");
  return absl::StrCat(
      "<h1>", Breakable(Name(kernel.qualname())), "</h1>\n",
      summary.empty() ? "" : absl::StrCat("<p class=\"lead\">", SentenceHtml(summary), "</p>\n"),
      "<p class=\"facts\">", absl::StrJoin(facts, "\n"), "</p>\n", ExecutionLine(execution),
      TagLinks(kernel));
}

// Returns the sentences of the description; each unfolds the rule that made it and the evidence.
// The page has the launcher, and a docstring of one sentence, above: these are left out.
std::string DescriptionSection(const std::vector<Sentence>& sentences, const std::string& summary) {
  const std::string quoted = absl::StrCat("Docstring: \"", summary, "\"");
  std::string items;
  for (const Sentence& sentence : sentences) {
    if (sentence.rule == "launcher" || sentence.text == quoted) continue;
    if (items.size() > kMaxSentences) break;
    absl::StrAppend(
        &items, "<li>", SentenceHtml(sentence.text),
        " <details class=\"why\"><summary>why</summary><span class=\"rule\">rule ",
        Short(sentence.rule),
        sentence.evidence.empty() ? "" : absl::StrCat(": ", Short(sentence.evidence, 400)),
        "</span></details></li>\n");
  }
  if (items.empty()) return "";
  return Section("description", "Computation",
                 absl::StrCat("<ul class=\"describe\">\n", items, "</ul>\n"));
}

std::string SourceSection(const v1::KernelRow& kernel, code::Language language) {
  const HighlightedCode code =
      HighlightCode(kernel.source(), language, kernel.first_line(), true, kMaxSource);
  const std::string rest =
      code.cut ? absl::StrCat("<p class=\"note\">", code.lines, " of ", CountLines(kernel),
                              " lines are shown; the rest is at ",
                              Link(kernel.url(), kernel.path()), ".</p>\n")
               : "";
  return Folded("source", "Source with line numbers",
                absl::StrCat("<pre class=\"code\" tabindex=\"0\"><code>", code.html,
                             "</code></pre>\n", rest));
}

// Returns a file name that is valid on every file system.
// The length is bounded too, because file systems allow 255 bytes.
std::string DownloadName(const v1::KernelRow& kernel) {
  std::string name;
  for (const char c : kernel.name().substr(0, 80)) {
    name += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
  }
  return absl::StrCat(name.empty() ? "kernel" : name, dsl::IsC(kernel.dsl()) ? ".cu" : ".py");
}

constexpr int kMaxCopyrights = 20;  // in the header of a module

// Returns the module with its origin and licence in front, as comments: what is copied says where
// it comes from. Texts of the repository are made safe, so that none ends its comment.
std::string ModuleWithOrigin(const v1::KernelRow& kernel) {
  const char* const mark = dsl::IsC(kernel.dsl()) ? "// " : "# ";
  const v1::RowLicense& license = kernel.license();
  std::string header;
  const auto add = [&](absl::string_view what, absl::string_view text) {
    absl::StrAppend(&header, mark, what, SafeLine(text.substr(0, 1000)), "\n");
  };
  add("", absl::StrCat(kernel.qualname(), " of ", kernel.repository(), ", ", kernel.path(), ":",
                       kernel.first_line(), "-", kernel.last_line(), ", commit ", kernel.commit()));
  if (!kernel.url().empty()) add("", kernel.url());
  for (int i = 0; i < std::min(license.copyrights_size(), kMaxCopyrights); ++i) {
    add("", license.copyrights(i));
  }
  for (const v1::RowLicense::Adaptation& origin : license.adapted_from()) {
    add("Adapted from ", origin.origin());
  }
  add("SPDX-License-Identifier: ", license.expression());
  return absl::StrCat(header, "\n", kernel.module());
}

std::string ModuleSection(const v1::KernelRow& kernel, code::Language language) {
  if (kernel.module().empty()) return "";
  const std::string module = ModuleWithOrigin(kernel);
  Bounded names(kMaxNames);
  for (const auto& missing : kernel.unresolved_names()) {
    names.Add(
        absl::StrCat("<li>", InlineCode(missing.name()), " ", Short(missing.reason()), "</li>\n"));
  }
  std::string missing;
  if (!kernel.unresolved_names().empty()) {
    missing = absl::StrCat("<p class=\"warn\">Not self-contained. Missing names:</p>\n<ul>\n",
                           names.html(), "</ul>\n", names.Rest());
  }
  // The module is on the page twice: as text, and as base64 in the link that downloads it. If both
  // do not fit, the page has neither. A module of more than kMaxModule bytes never fits, so that
  // its rest need not be converted.
  const std::string data = absl::Base64Escape(module.substr(0, kMaxModule));
  HighlightedCode code = HighlightCode(module, language, 1, false, kMaxModule);
  if (code.cut || code.html.size() + data.size() > kMaxModule) {
    code.html = HtmlCode(module.substr(0, kMaxModule));
  }
  if (code.html.size() + data.size() > kMaxModule) {
    return Section(
        "module", "Module",
        absl::StrCat(missing, "<p class=\"note\">The module has ", kernel.module().size(),
                     " bytes, too many for this page. It is in kernels.jsonl, id ",
                     InlineCode(kernel.id()), ".</p>\n"));
  }
  return Section(
      "module", "Module",
      absl::StrCat("<p>The kernel with its imports, constants and helpers, below its origin and "
                   "licence.</p>\n",
                   missing,
                   "<p class=\"actions\"><button type=\"button\" class=\"copy js-only\" "
                   "data-copy=\"module-code\">Copy the "
                   "module</button> <a class=\"button\" download=\"",
                   DownloadName(kernel), "\" href=\"data:text/plain;charset=utf-8;base64,", data,
                   "\">Download the module</a></p>\n<pre class=\"code tall\" tabindex=\"0\"><code "
                   "id=\"module-code\">",
                   code.html, "</code></pre>\n"));
}

// A section with the text of the link to it. `id` is the section's id.
struct PagePart {
  const char* id;
  const char* link;
  std::string html;
};

// Returns links to all sections with content, then the sections: pages are long, mostly on a phone.
std::string PartsHtml(const std::vector<PagePart>& parts) {
  std::string links;
  std::string sections;
  for (const PagePart& part : parts) {
    if (part.html.empty()) continue;
    absl::StrAppend(&links, "<a href=\"#", part.id, "\">", part.link, "</a>\n");
    absl::StrAppend(&sections, part.html);
  }
  return absl::StrCat("<nav class=\"parts\" aria-label=\"On this page\">\n", links, "</nav>\n",
                      sections);
}

}  // namespace

std::string KernelPagePath(absl::string_view id) {
  return absl::StrCat("kernels/", id.substr(0, 2), "/", id, ".html");
}

// First what a reader came for: the code, how to call it, what it computes. Then the evidence,
// folded.
std::string KernelPage(const KernelPageInput& input) {
  const v1::KernelRow& kernel = input.kernel;
  const auto language = dsl::GetSyntax(kernel.dsl());
  const std::vector<PagePart> parts = {
      {"module", "Module", ModuleSection(kernel, language)},
      {"usage", "How to call it", LauncherSection(kernel)},
      {"description", "Computation", DescriptionSection(input.sentences, Summary(input.kernel))},
      {"tests", "Tests", TestsSection(kernel, input.execution)},
      {"relatives", "Related", RelativesSection(input)},
      {"execution", "Executions", ExecutionSection(input.execution)},
      {"source", "Source", SourceSection(kernel, language)},
      {"parameters", "Parameters", ParametersSection(kernel)},
      {"autotune", "Autotune", AutotuneSection(kernel)},
      {"compile", "Compilers", CompileSection(kernel)},
      {"checks", "Checks", ChecksSection(kernel)},
      {"license", "Licence", LicenseSection(input)},
      {"provenance", "Origin", ProvenanceSection(kernel)}};
  return absl::StrCat(PageHead("../../", absl::StrCat(kernel.qualname().substr(0, 200), ", ",
                                                      kernel.repository().substr(0, 200))),
                      "<article>\n", Lead(kernel, input.execution), PartsHtml(parts),
                      "</article>\n", PageFoot());
}

std::string GetAgainCommands(const v1::KernelRow& kernel) {
  // Commands are text that a person runs. If a name is unusual, no command is better than a
  // doubtful one.
  if (WebUrl(kernel.repository_url()).empty() || !IsHex(kernel.commit(), 40) ||
      !IsPlain(kernel.path()) || !IsPlain(kernel.repository_url())) {
    return "";
  }
  // With "./" a name that begins with a dash is not an option.
  const std::string file = absl::StrCat("./", BaseName(kernel.path()));
  const std::string raw = RawUrl(kernel);
  std::string commands =
      raw.empty() ? absl::StrCat("git init -q kernel && git -C kernel fetch -q --depth 1 ",
                                 Quoted(kernel.repository_url()), " ", kernel.commit(), "\n",
                                 "git -C kernel show ",
                                 Quoted(absl::StrCat(kernel.commit(), ":", kernel.path())), " > ",
                                 Quoted(file), "\n")
                  : absl::StrCat("curl -fL -o ", Quoted(file), " ", Quoted(raw), "\n");
  // Lines of a kernel in a JSON string are not lines of the file.
  if (kernel.json_pointer().empty()) {
    absl::StrAppend(&commands, "sed -n '", kernel.first_line(), ",", kernel.last_line(), "p' ",
                    Quoted(file), "\n");
  }
  return commands;
}

}  // namespace kernelmill::client
