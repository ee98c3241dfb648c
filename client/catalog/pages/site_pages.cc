// The pages about all kernels: coverage and gaps, learning paths, and notices. Each page stays
// below kMaxPage; lists that are longer end with a note.

#include "client/catalog/pages/site_pages.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/catalog/describe/description.h"
#include "client/catalog/pages/html_parts.h"
#include "client/catalog/pages/kernel_page.h"
#include "client/catalog/web/page.h"
#include "common/text/safe_text.h"
#include "common/words/counted.h"

namespace kernelmill::client {
namespace {

constexpr size_t kMaxNeeds = 200;
constexpr size_t kMaxValues = 4;
constexpr size_t kMaxSiteTable = 240'000;  // bytes; four tables are less than kMaxPage

struct OperationList {
  const char* name;
  const char* title;
};
constexpr OperationList kLists[] = {{"seeds", "Operations of the community's index"},
                                    {"aten", "PyTorch's core ATen operators"},
                                    {"kernelbench", "KernelBench problems"}};

// Returns the most frequent values: "float16 12, int8 3".
std::string Most(const std::map<std::string, int64_t>& counts) {
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [value, count] : counts) order.emplace_back(-count, value);
  std::sort(order.begin(), order.end());
  std::vector<std::string> parts;
  for (size_t i = 0; i < std::min(order.size(), kMaxValues); ++i) {
    parts.push_back(absl::StrCat(Short(order[i].second, 40), " ", -order[i].first));
  }
  if (order.size() > kMaxValues) parts.push_back("&hellip;");
  return absl::StrJoin(parts, ", ");
}

// Returns a number with the class for found, missing, or missing but not wanted.
std::string CountCell(int64_t count, bool wanted) {
  const char* kind = count > 0 ? "ok" : wanted ? "bad" : "note";
  return absl::StrCat("<span class=\"", kind, "\">", count, "</span>");
}

// Returns a link to the best kernel; without one to the nearest.
std::string KernelCell(const OperationCoverage& coverage,
                       const std::vector<CatalogEntry>& entries) {
  if (coverage.best.has_value()) return KernelLink("", entries[*coverage.best]);
  if (!coverage.nearest.has_value()) return "";
  return absl::StrCat("<span class=\"quiet\">nearest:</span> ",
                      KernelLink("", entries[*coverage.nearest]));
}

// Returns the coverage of one list of operations: one row for each operation. Empty if the table of
// operations has no such list.
std::string ListTable(const Coverage& coverage, const std::vector<CatalogEntry>& entries,
                      const OperationList& list) {
  Bounded rows(kMaxSiteTable);
  size_t found = 0;
  size_t all = 0;
  for (const OperationCoverage& each : coverage.operations()) {
    if (each.operation->list != list.name) continue;
    ++all;
    found += each.found() > 0;
    rows.Add(Row({HtmlLine(each.operation->name), CountCell(each.forward, true),
                  CountCell(each.backward, each.operation->differentiable), Most(each.dtypes),
                  Most(each.languages), Most(each.licenses), Most(each.fused_with),
                  absl::StrCat(each.strided), absl::StrCat(each.self_contained),
                  absl::StrCat(each.first_tier), absl::StrCat(each.compile),
                  absl::StrCat(each.tested), KernelCell(each, entries)}));
  }
  if (all == 0) return "";
  return Section(list.name, list.title,
                 absl::StrCat("<p>", found, " of ", all, " have a kernel.</p>\n",
                              WideTable(absl::StrCat("Table: ", list.title),
                                        {"Operation", "Forward", "Backward", "Types", "Languages",
                                         "Licences", "Fused with", "With strides", "Self-contained",
                                         "Tier 1", "Compiled", "Tested", "Best kernel"},
                                        rows)));
}

// Returns the first kMaxNeeds gaps by weight, with the kernel from which to start.
std::string NeedsTable(const Coverage& coverage, const std::vector<CatalogEntry>& entries) {
  Bounded rows(kMaxSiteTable);
  const std::vector<Need>& needs = coverage.needs();
  for (size_t i = 0; i < std::min(needs.size(), kMaxNeeds); ++i) {
    const KnownOperation& operation = *coverage.operations()[needs[i].operation].operation;
    rows.Add(Row({absl::StrCat(i + 1), HtmlLine(operation.name), HtmlLine(needs[i].what),
                  needs[i].nearest.has_value() ? KernelLink("", entries[*needs[i].nearest]) : ""}));
  }
  return Section(
      "needed", "Gaps",
      absl::StrCat(
          WideTable("Table of gaps", {"Rank", "Operation", "Gap", "Nearest kernel"}, rows,
                    "grid gaps"),
          needs.size() > kMaxNeeds
              ? absl::StrCat("<p class=\"note\">coverage.json has all ", needs.size(), ".</p>\n")
              : ""));
}

constexpr size_t kMostOfARepository = 2;
constexpr double kEnoughComments = 0.15;
constexpr double kBonusOfComments = 0.3;
constexpr double kBonusOfDocstringOrTest = 0.1;

// Returns how well a kernel teaches: its standing, with a bonus for comments (up to kEnoughComments
// of the text, more do not help), a docstring and a test.
double ComputeCleanness(const CatalogEntry& entry) {
  const double comments = std::min(entry.comment_ratio, kEnoughComments) / kEnoughComments;
  return entry.standing + kBonusOfComments * comments + kBonusOfDocstringOrTest * entry.documented +
         kBonusOfDocstringOrTest * entry.tested;
}

// Returns whether a kernel can be read and run alone, and computes something.
bool CanTeach(const CatalogEntry& entry) {
  return entry.self_contained && (entry.kind == "operation" || entry.kind == "example");
}

// Returns a learning path: the cleanest candidates, with few from one repository and no name twice,
// because copies of one kernel teach nothing new; then from simple to hard. Ties are resolved by
// the number, so that equal datasets give equal pages.
std::vector<uint32_t> Choose(const std::vector<CatalogEntry>& entries,
                             std::vector<uint32_t> candidates) {
  const auto by_cleanness = [&](uint32_t a, uint32_t b) {
    return std::pair(-ComputeCleanness(entries[a]), a) <
           std::pair(-ComputeCleanness(entries[b]), b);
  };
  std::sort(candidates.begin(), candidates.end(), by_cleanness);
  std::vector<uint32_t> chosen;
  std::set<std::string> names;
  std::map<std::string, size_t> of_repository;
  for (const uint32_t candidate : candidates) {
    if (chosen.size() == kPathLength) break;
    const CatalogEntry& entry = entries[candidate];
    if (of_repository[entry.repository] >= kMostOfARepository) continue;
    if (!names.insert(entry.name).second) continue;
    ++of_repository[entry.repository];
    chosen.push_back(candidate);
  }
  std::sort(chosen.begin(), chosen.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(ComputeDifficulty(entries[a]), a) <
           std::pair(ComputeDifficulty(entries[b]), b);
  });
  return chosen;
}

constexpr size_t kMaxBytes = kMaxPage - 20'000;

// Returns one step of a learning path: the kernel, its summary, and its size.
std::string Step(const CatalogEntry& entry) {
  std::string about = Counted(entry.lines, "line");
  if (entry.backward()) about += ", backward";
  if (!entry.features.empty()) {
    absl::StrAppend(&about, ", ", HtmlLine(absl::StrJoin(entry.features, ", ")));
  }
  return absl::StrCat("<li>", KernelLink("", entry), "<br>",
                      entry.summary.empty() ? "" : absl::StrCat(Short(entry.summary, 200), " "),
                      "<span class=\"quiet\">(", about, ")</span></li>\n");
}

constexpr size_t kMaxText = 150'000;  // bytes; a text of quotes gives six times as much HTML

}  // namespace

std::string CoveragePage(const Coverage& coverage, const std::vector<CatalogEntry>& entries) {
  const auto covered =
      std::count_if(coverage.operations().begin(), coverage.operations().end(),
                    [](const OperationCoverage& operation) { return operation.found() > 0; });
  std::string lists;
  std::string links = "<a href=\"#needed\">Gaps</a>\n";
  for (const OperationList& list : kLists) {
    const std::string table = ListTable(coverage, entries, list);
    if (table.empty()) continue;
    lists += table;
    absl::StrAppend(&links, "<a href=\"#", list.name, "\">", list.title, "</a>\n");
  }
  return absl::StrCat(
      PageHead("", "Coverage and gaps", "coverage.html"),
      "<h1>Coverage and gaps</h1>\n<p class=\"lead\">", covered, " of ",
      Counted(static_cast<int64_t>(coverage.operations().size()), "operation"),
      covered == 1 ? " has" : " have", " a kernel among ", Counted(coverage.kernels(), "kernel"),
      "; ", Counted(static_cast<int64_t>(coverage.needs().size()), "gap"), " ",
      coverage.needs().size() == 1 ? "remains" : "remain",
      ".</p>\n<p>A kernel counts for an operation if its tags, and whole words in the names of "
      "the kernel, its launcher and its file, match. A helper of other kernels does not count, "
      "but may be the nearest kernel, to start from. "
      "<a href=\"coverage.json\">coverage.json</a> has the same data for programs.</p>\n<nav "
      "class=\"parts\" aria-label=\"On this page\">\n",
      links, "</nav>\n", NeedsTable(coverage, entries), lists, PageFoot());
}

double ComputeDifficulty(const CatalogEntry& entry) {
  return entry.lines * (1 + static_cast<double>(entry.features.size()) / 6);
}

std::map<std::string, std::vector<uint32_t>> LearningPaths(
    const std::vector<CatalogEntry>& entries) {
  std::map<std::string, std::vector<uint32_t>> by_tag;
  for (uint32_t i = 0; i < entries.size(); ++i) {
    if (!CanTeach(entries[i])) continue;
    // A kernel with several tags may be on several paths.
    for (const std::string& tag : entries[i].tags) {
      if (tag != "backward") by_tag[tag].push_back(i);
    }
  }
  std::map<std::string, std::vector<uint32_t>> paths;
  for (auto& [tag, candidates] : by_tag) {
    std::vector<uint32_t> chosen = Choose(entries, std::move(candidates));
    if (chosen.size() > 1) paths[tag] = std::move(chosen);
  }
  return paths;
}

std::string LearnPage(const std::vector<CatalogEntry>& entries) {
  std::string contents;
  std::string paths;
  for (const auto& [tag, steps] : LearningPaths(entries)) {
    std::string items;
    for (const uint32_t step : steps) items += Step(entries[step]);
    const std::string id = absl::StrCat("op-", HtmlLine(tag));
    const std::string section = Section(id, HtmlLine(Capitalized(TagPhrase(tag))),
                                        absl::StrCat("<ol class=\"path\">\n", items, "</ol>\n"));
    // The page is full. Paths are in the order of their names.
    if (paths.size() + section.size() > kMaxBytes) break;
    paths += section;
    absl::StrAppend(&contents, "<li><a href=\"#", id, "\">", HtmlLine(Capitalized(TagPhrase(tag))),
                    "</a></li>\n");
  }
  return absl::StrCat(
      PageHead("", "Learn: kernels from simple to hard", "learn.html"),
      "<h1>Learn: kernels from simple to hard</h1>\n<p>The cleanest "
      "self-contained kernels of each operation, ordered by length and language features. They are "
      "chosen by score, comments, docstring and tests, common hardware and forward passes first, "
      "at "
      "most two from a repository.</p>\n",
      contents.empty() ? "<p>No operation has two self-contained kernels.</p>\n"
                       : absl::StrCat("<nav aria-label=\"Operations\"><ul class=\"columns\">\n",
                                      contents, "</ul></nav>\n"),
      paths, PageFoot());
}

std::string NoticePage(const Notice& notice) {
  absl::string_view text = notice.text;
  const bool cut = text.size() > kMaxText;
  // Cut at the end of a line.
  if (cut) text = text.substr(0, text.rfind('\n', kMaxText));
  return absl::StrCat(PageHead("../", absl::StrCat(notice.path, ", ", notice.repository)), "<h1>",
                      Name(notice.path), "</h1>\n<p>", Link(notice.url, notice.repository),
                      "</p>\n<pre class=\"prose\">\n", HtmlCode(text.substr(0, kMaxText)),
                      "</pre>\n", cut ? "<p class=\"note\">The rest is not shown.</p>\n" : "",
                      PageFoot());
}

}  // namespace kernelmill::client
