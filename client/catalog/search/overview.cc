// A sentence with numbers, and bar charts. A chart is a table whose bars are pictures (SVG), so
// that a screen reader reads the numbers, and each row leads to a search for it.

#include "client/catalog/search/overview.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "common/base/url.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

constexpr size_t kBars = 8;
constexpr int kBarWidth = 120;

std::string Thousands(size_t number) {
  std::string digits = absl::StrCat(number);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string Plural(size_t count, absl::string_view one, absl::string_view many) {
  return absl::StrCat(Thousands(count), " ", count == 1 ? one : many);
}

size_t CountValue(const FacetColumn& facet, absl::string_view value) {
  const auto at = std::find(facet.values().begin(), facet.values().end(), value);
  return at == facet.values().end() ? 0 : facet.counts()[at - facet.values().begin()];
}

std::string Bar(absl::string_view key, const FacetColumn& facet, size_t i) {
  const std::string& value = facet.values()[i];
  const auto width = std::max<size_t>(1, facet.counts()[i] * kBarWidth / facet.counts()[0]);
  return absl::StrCat(
      "<tr><th scope=\"row\"><a href=\"#", key, "=", PercentEncoded(value, kUnreservedInPath),
      "\">", HtmlLine(absl::StrReplaceAll(value, {{"_", " "}})), "</a></th><td><svg viewBox=\"0 0 ",
      kBarWidth,
      " 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect class=\"bar\" width=\"", width,
      "\" height=\"10\"/></svg></td><td class=\"count\">", Thousands(facet.counts()[i]),
      "</td></tr>\n");
}

// `key` is the facet's in addresses.
std::string Chart(absl::string_view key, absl::string_view title, const FacetColumn& facet) {
  if (facet.values().empty()) return "";
  std::string html =
      absl::StrCat("<table class=\"bars\">\n<caption>", title, "</caption>\n<tbody>\n");
  const size_t bars = std::min(kBars, facet.values().size());
  for (size_t i = 0; i < bars; ++i) absl::StrAppend(&html, Bar(key, facet, i));
  if (const size_t rest = facet.values().size() - bars; rest > 0) {
    absl::StrAppend(&html, "<tr><td colspan=\"3\" class=\"quiet\">and ", Thousands(rest),
                    " more</td></tr>\n");
  }
  return absl::StrCat(html, "</tbody>\n</table>\n");
}

}  // namespace

std::string OverviewHtml(const OverviewInput& input) {
  if (input.kernels == 0) return "<p>The dataset has no kernels.</p>\n";
  std::string html = absl::StrCat(
      "<p class=\"lead\"><strong>", Plural(input.kernels, "kernel", "kernels"), "</strong> from ",
      Plural(input.repositories.values().size(), "repository", "repositories"), ", in ",
      Plural(input.languages.values().size(), "language", "languages"), " and under ",
      Plural(input.licenses.values().size(), "licence", "licences"), ".");
  if (const size_t operations = CountValue(input.kinds, "operation"); operations > 0) {
    absl::StrAppend(&html, " ", Thousands(operations),
                    operations == 1 ? " is an operation" : " are operations",
                    " that code launches");
    const size_t helpers = CountValue(input.kinds, "helper");
    absl::StrAppend(&html, "; ", Thousands(helpers), helpers == 1 ? " is a helper" : " are helpers",
                    " of other kernels.");
  }
  absl::StrAppend(&html, "</p>\n");
  return absl::StrCat(html, "<div class=\"charts\">\n", Chart("op", "Operations", input.operations),
                      Chart("lang", "Languages", input.languages),
                      Chart("hw", "Hardware", input.hardware),
                      Chart("licence", "Licences", input.licenses), "</div>\n");
}

}  // namespace kernelmill::client
