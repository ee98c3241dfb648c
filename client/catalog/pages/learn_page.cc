#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/catalog/describe/description.h"
#include "client/catalog/pages/html_parts.h"
#include "client/catalog/pages/kernel_page.h"
#include "client/catalog/pages/learning_path.h"
#include "client/catalog/pages/site_pages.h"
#include "client/catalog/web/page.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

constexpr size_t kMaxBytes = kMaxPage - 20'000;

std::string Step(const CatalogEntry& entry) {
  std::string about = absl::StrCat(entry.lines, " lines");
  if (entry.backward()) about += ", backward";
  if (!entry.features.empty()) {
    absl::StrAppend(&about, ", ", HtmlLine(absl::StrJoin(entry.features, ", ")));
  }
  return absl::StrCat("<li>", KernelLink("", entry), "<br>",
                      entry.summary.empty() ? "" : absl::StrCat(Short(entry.summary, 200), " "),
                      "<span class=\"quiet\">(", about, ")</span></li>\n");
}

}  // namespace

std::string LearnPage(const std::vector<CatalogEntry>& entries) {
  std::string contents;
  std::string paths;
  for (const auto& [tag, steps] : LearningPaths(entries)) {
    std::string items;
    for (const uint32_t step : steps) items += Step(entries[step]);
    const std::string id = absl::StrCat("op-", HtmlLine(tag));
    const std::string section = Section(id, HtmlLine(TagPhrase(tag)),
                                        absl::StrCat("<ol class=\"path\">\n", items, "</ol>\n"));
    if (paths.size() + section.size() > kMaxBytes) break;
    paths += section;
    absl::StrAppend(&contents, "<li><a href=\"#", id, "\">", HtmlLine(tag), "</a></li>\n");
  }
  return absl::StrCat(
      PageHead("", "Learn: kernels from simple to hard"),
      "<h1>Learn: kernels from simple to hard</h1>\n<p>For each operation the cleanest kernels "
      "that "
      "stand alone, by score, comments, docstring and tests; at most two of a repository. They are "
      "ordered by their lines and by how much of the language they use.</p>\n",
      contents.empty() ? "<p>No operation has two kernels that stand alone.</p>\n"
                       : absl::StrCat("<nav aria-label=\"Operations\"><ul class=\"columns\">\n",
                                      contents, "</ul></nav>\n"),
      paths, PageFoot());
}

}  // namespace kernelmill::client
