#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/catalog/pages/html_parts.h"
#include "client/catalog/pages/site_pages.h"
#include "client/catalog/web/page.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

constexpr size_t kMaxNeeds = 200;
constexpr size_t kMaxValues = 4;
constexpr size_t kMaxTable = 240'000;  // bytes: four tables are less than kMaxPage

struct OperationList {
  const char* name;
  const char* title;
};
constexpr OperationList kLists[] = {{"seeds", "What the community's index asks for"},
                                    {"aten", "PyTorch's core ATen operators"},
                                    {"kernelbench", "KernelBench's problems"}};

// The most frequent ones: "float16 12, int8 3".
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

std::string CountCell(int64_t count, bool wanted) {
  const char* kind = count > 0 ? "ok" : wanted ? "bad" : "note";
  return absl::StrCat("<span class=\"", kind, "\">", count, "</span>");
}

std::string KernelCell(const OperationCoverage& coverage,
                       const std::vector<CatalogEntry>& entries) {
  if (coverage.best.has_value()) return KernelLink("", entries[*coverage.best]);
  if (!coverage.nearest.has_value()) return "";
  return absl::StrCat("<span class=\"quiet\">nearest:</span> ",
                      KernelLink("", entries[*coverage.nearest]));
}

std::string ListTable(const Coverage& coverage, const std::vector<CatalogEntry>& entries,
                      const OperationList& list) {
  Bounded rows(kMaxTable);
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
                              WideTable(list.title,
                                        {"Operation", "Forward", "Backward", "Types", "Languages",
                                         "Licences", "Fused with", "With strides", "Stand alone",
                                         "First tier", "Compile", "Tested", "Best kernel"},
                                        rows, "grid")));
}

std::string NeedsTable(const Coverage& coverage, const std::vector<CatalogEntry>& entries) {
  Bounded rows(kMaxTable);
  const std::vector<Need>& needs = coverage.needs();
  for (size_t i = 0; i < std::min(needs.size(), kMaxNeeds); ++i) {
    const KnownOperation& operation = *coverage.operations()[needs[i].operation].operation;
    rows.Add(Row({absl::StrCat(i + 1), HtmlLine(operation.name), HtmlLine(needs[i].what),
                  needs[i].nearest.has_value() ? KernelLink("", entries[*needs[i].nearest]) : ""}));
  }
  return Section(
      "needed", "Still needed",
      absl::StrCat(
          WideTable("Still needed", {"", "Operation", "What", "Nearest kernel"}, rows, "grid"),
          needs.size() > kMaxNeeds
              ? absl::StrCat("<p class=\"note\">coverage.json has all ", needs.size(), ".</p>\n")
              : ""));
}

}  // namespace

std::string CoveragePage(const Coverage& coverage, const std::vector<CatalogEntry>& entries) {
  std::string lists;
  for (const OperationList& list : kLists) lists += ListTable(coverage, entries, list);
  return absl::StrCat(PageHead("", "Coverage: what there is, and what is still needed"),
                      "<h1>Coverage: what there is, and what is still needed</h1>\n<p>",
                      coverage.kernels(),
                      " kernels held against lists of operations. A kernel counts for an operation "
                      "by its tags and by "
                      "whole words of its name, its launcher's and its file's; <a "
                      "href=\"coverage.json\">coverage.json"
                      "</a> has the same for programs.</p>\n",
                      NeedsTable(coverage, entries), lists, PageFoot());
}

}  // namespace kernelmill::client
