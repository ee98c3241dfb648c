#include "client/catalog/pages/kernel_page.h"

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/catalog/pages/highlight.h"
#include "client/catalog/pages/html_parts.h"
#include "client/catalog/pages/kernel_sections.h"
#include "client/catalog/web/page.h"
#include "common/base/url.h"
#include "common/code/lexer.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

constexpr size_t kMaxSource = 240'000;    // bytes of HTML
constexpr size_t kMaxModule = 230'000;    // of HTML and base64
constexpr size_t kMaxNames = 15'000;      // likewise
constexpr size_t kMaxSentences = 40'000;  // bytes of HTML

std::string TagLinks(const CatalogKernel& kernel) {
  std::string html;
  for (const std::string& tag : kernel.tags) {
    absl::StrAppend(&html, "<a class=\"tag\" href=\"../../index.html#op=", PercentEncoded(tag, "_"),
                    "\">", Short(tag), "</a> ");
  }
  return html.empty() ? "" : absl::StrCat("<p>", html, "</p>\n");
}

std::string Lead(const CatalogKernel& kernel) {
  return absl::StrCat(
      "<h1>", Name(kernel.qualname), "</h1>\n", TagLinks(kernel),
      Facts(absl::StrCat(
          Fact("Source", Link(kernel.url, absl::StrCat(kernel.repository, " ", kernel.path, ":",
                                                       kernel.first_line, "-", kernel.last_line))),
          Fact("Licence", Name(kernel.license.expression)), Fact("Language", Short(kernel.dsl)),
          Fact("Size", absl::StrCat(kernel.lines(), " lines, ", kernel.tokens, " tokens")),
          Fact("Score", absl::StrFormat("%.2f", kernel.score)))));
}

std::string DescriptionSection(const std::vector<Sentence>& sentences) {
  std::string items;
  for (const Sentence& sentence : sentences) {
    if (items.size() > kMaxSentences) break;
    absl::StrAppend(
        &items, "<li>", SentenceHtml(sentence.text), " <span class=\"rule\">", Short(sentence.rule),
        sentence.evidence.empty() ? "" : absl::StrCat(": ", Short(sentence.evidence, 400)),
        "</span></li>\n");
  }
  if (items.empty()) return "";
  return Section("description", "What it does",
                 absl::StrCat("<ul class=\"describe\">\n", items, "</ul>\n"));
}

std::string SourceSection(const CatalogKernel& kernel, code::Language language) {
  const HighlightedCode code =
      HighlightCode(kernel.source, language, kernel.first_line, true, kMaxSource);
  const std::string rest = code.cut
                               ? absl::StrCat("<p class=\"note\">", code.lines, " of ",
                                              kernel.lines(), " lines are shown; the rest is at ",
                                              Link(kernel.url, kernel.path), ".</p>\n")
                               : "";
  return Section("source", "Source",
                 absl::StrCat("<pre class=\"code\" tabindex=\"0\"><code>", code.html,
                              "</code></pre>\n", rest));
}

// A name that every file system takes.
std::string DownloadName(const CatalogKernel& kernel) {
  std::string name;
  for (const char c : kernel.name.substr(0, 80)) {
    name += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
  }
  return absl::StrCat(name.empty() ? "kernel" : name, kernel.dsl == "cuda" ? ".cu" : ".py");
}

std::string ModuleSection(const CatalogKernel& kernel) {
  if (kernel.module.empty()) return "";
  Bounded names(kMaxNames);
  for (const auto& [name, reason] : kernel.unresolved_names) {
    names.Add(absl::StrCat("<li>", InlineCode(name), " ", Short(reason), "</li>\n"));
  }
  std::string missing;
  if (!kernel.unresolved_names.empty()) {
    missing =
        absl::StrCat("<p class=\"warn\">It does not stand alone. It goes without:</p>\n<ul>\n",
                     names.html(), "</ul>\n", names.Rest());
  }
  const std::string code = HtmlCode(kernel.module.substr(0, kMaxModule));
  const std::string data = absl::Base64Escape(kernel.module.substr(0, kMaxModule));
  if (code.size() + data.size() > kMaxModule) {
    return Section("module", "Module",
                   absl::StrCat(missing, "<p class=\"note\">The module has ", kernel.module.size(),
                                " bytes, too many for this page: kernels.jsonl has it, id ",
                                InlineCode(kernel.id), ".</p>\n"));
  }
  return Section(
      "module", "Module",
      absl::StrCat(
          "<p>The kernel with the imports, constants and helpers that it needs.</p>\n", missing,
          "<p><button type=\"button\" class=\"copy js-only\" data-copy=\"module-code\">Copy the "
          "module</button> <a class=\"button\" download=\"",
          DownloadName(kernel), "\" href=\"data:text/plain;charset=utf-8;base64,", data,
          "\">Download the module</a></p>\n",
          "<details>\n<summary>Show the module</summary>\n<pre class=\"code\" tabindex=\"0\"><code "
          "id=\"module-code\">",
          code, "</code></pre>\n</details>\n"));
}

// A section and how links name it; `id` is the section's own.
struct PagePart {
  const char* id;
  const char* link;
  std::string html;
};

// Links to the sections that there are, then these: pages are long, and longest on a phone.
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

std::string KernelPage(const KernelPageInput& input) {
  const CatalogKernel& kernel = input.kernel;
  const auto language = kernel.dsl == "cuda" ? code::Language::kC : code::Language::kPython;
  const std::vector<PagePart> parts = {
      {"description", "Description", DescriptionSection(input.sentences)},
      {"source", "Source", SourceSection(kernel, language)},
      {"module", "Module", ModuleSection(kernel)},
      {"parameters", "Parameters", ParametersSection(kernel)},
      {"autotune", "Autotune", AutotuneSection(kernel)},
      {"usage", "Usage", LauncherSection(kernel)},
      {"compile", "Compiled", CompileSection(kernel)},
      {"tests", "Tests", TestsSection(kernel)},
      {"checks", "Checks", ChecksSection(kernel)},
      {"relatives", "Relatives", RelativesSection(input)},
      {"license", "Licence", LicenseSection(input)},
      {"provenance", "Provenance", ProvenanceSection(kernel)}};
  return absl::StrCat(PageHead("../../", absl::StrCat(kernel.qualname.substr(0, 200), ", ",
                                                      kernel.repository.substr(0, 200))),
                      "<article>\n", Lead(kernel), PartsHtml(parts), "</article>\n", PageFoot());
}

}  // namespace kernelmill::client
