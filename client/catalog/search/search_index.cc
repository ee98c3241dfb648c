#include "client/catalog/search/search_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "client/catalog/search/data_files.h"
#include "client/catalog/search/kernel_words.h"
#include "client/catalog/search/numbering.h"
#include "client/catalog/search/row_files.h"
#include "client/catalog/web/page.h"
#include "client/catalog/web/site_file.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

constexpr size_t kKernelsInBlock = 1
                                   << 17;  // of four bytes in base64 they stay below a file's bound
constexpr size_t kTopRows = 20;            // what the first page shows
constexpr size_t kTopValues = 24;          // of a facet, on the first page
constexpr size_t kMaxName = 200;           // bytes that are shown
constexpr size_t kMaxPath = 300;
constexpr size_t kMaxSummary = 300;
constexpr size_t kMaxTagsShown = 12;
constexpr size_t kSetsTogether = 1000;  // in one part of facets-N.js

using Values = std::vector<std::string>;

Values YesNo(bool yes) { return {yes ? "yes" : "no"}; }

Values Operations(const CatalogKernel& kernel) {
  Values values;
  for (const std::string& tag : kernel.tags) {
    if (tag != "backward") values.push_back(ShownText(tag, kMaxName));
  }
  return values;
}

Values Shown(const Values& texts) {
  Values shown;
  for (const std::string& text : texts) shown.push_back(ShownText(text, kMaxName));
  return shown;
}

// What compiled it; nothing where nobody tried.
Values CompilesOn(const CatalogKernel& kernel) {
  Values values;
  if (!kernel.compile) return values;
  for (const CompileResult& result : kernel.compile->results) {
    if (result.status != "ok") continue;
    values.push_back(ShownText(absl::StrCat(result.toolchain, " · ", result.target), kMaxName));
  }
  return values;
}

constexpr size_t kOperations = 0;  // of kFacets

struct FacetKind {
  absl::string_view key;  // in addresses
  absl::string_view label;
  absl::string_view mode;  // as web/src/data.ts has it
  Values (*values)(const CatalogKernel&);
};

// Where no kernel of a dataset has a value, as of a column that it does not have, the page does not
// show the facet. `no` is no value of `test`: a dataset may not know.
constexpr std::array<FacetKind, 9> kFacets = {{
    {"op", "Operation", "all", &Operations},
    {"dir", "Direction", "any",
     [](const CatalogKernel& kernel) -> Values {
       return {kernel.is_backward() ? "backward" : "forward or not told"};
     }},
    {"lang", "Language", "any",
     [](const CatalogKernel& kernel) -> Values { return {ShownText(kernel.dsl, kMaxName)}; }},
    {"licence", "Licence", "any",
     [](const CatalogKernel& kernel) -> Values {
       return {ShownText(kernel.license.expression, kMaxName)};
     }},
    {"repo", "Repository", "any",
     [](const CatalogKernel& kernel) -> Values {
       return {ShownText(kernel.repository, kMaxName)};
     }},
    {"feature", "Features", "all",
     [](const CatalogKernel& kernel) { return Shown(kernel.features); }},
    {"self", "Self-contained", "any",
     [](const CatalogKernel& kernel) { return YesNo(kernel.self_contained); }},
    {"compile", "Compiles on", "all", &CompilesOn},
    {"test", "Has a test", "any",
     [](const CatalogKernel& kernel) { return kernel.tests.empty() ? Values{} : YesNo(true); }},
}};

uint32_t Thousandths(double score) {
  return static_cast<uint32_t>(std::lround(std::clamp(score, 0.0, 1.0) * 1000));
}

uint32_t Size(int64_t tokens) {
  return static_cast<uint32_t>(std::clamp<int64_t>(tokens, 0, UINT32_MAX));
}

// As web/src/data.ts has a row. A shown text has neither a tab nor a line end.
std::string RowLine(const CatalogKernel& kernel, absl::string_view summary) {
  std::vector<std::string> fields = {
      ShownText(kernel.id, kMaxName),
      ShownText(kernel.qualname, kMaxName),
      ShownText(kernel.repository, kMaxName),
      ShownText(kernel.path, kMaxPath),
      absl::StrCat(kernel.first_line),
      ShownText(kernel.dsl, kMaxName),
      ShownText(kernel.license.expression, kMaxName),
      absl::StrCat(Thousandths(kernel.score)),
      absl::StrCat(Size(kernel.tokens)),
      kernel.self_contained ? "1" : "0",
      ShownText(summary.empty() ? kernel.docstring : summary, kMaxSummary)};
  const Values tags = Shown(kernel.tags);
  fields.insert(fields.end(), tags.begin(),
                tags.begin() + static_cast<ptrdiff_t>(std::min(kMaxTagsShown, tags.size())));
  return absl::StrJoin(fields, "\t");
}

// Values or sets of a facet as parts that facets-N.js are made of.
template <typename Item, typename Json>
void AppendParts(size_t facet, absl::string_view member, const std::vector<Item>& items, Json json,
                 std::vector<std::string>* parts) {
  for (size_t begin = 0; begin < items.size(); begin += kSetsTogether) {
    const auto some = absl::MakeConstSpan(items).subspan(begin, kSetsTogether);
    std::vector<std::string> texts;
    for (const Item& item : some) texts.push_back(json(item));
    parts->push_back(
        absl::StrCat("{\"facet\":", facet, ",\"", member, "\":[", absl::StrJoin(texts, ","), "]}"));
  }
}

// Writes columns/KEY-0.js and so on.
absl::Status WriteColumn(const std::string& site, absl::string_view key,
                         const std::vector<uint32_t>& column) {
  for (size_t begin = 0; begin < column.size(); begin += kKernelsInBlock) {
    const auto block = absl::MakeConstSpan(column).subspan(begin, kKernelsInBlock);
    RETURN_IF_ERROR(WriteDataFile(site, absl::StrCat("columns/", key, "-", begin / kKernelsInBlock),
                                  absl::StrCat("\"", EncodeColumn(block), "\"")));
  }
  return absl::OkStatus();
}

}  // namespace

SearchIndex::SearchIndex(std::string site, SearchOptions options, Postings postings,
                         TempRecords rows)
    : site_(std::move(site)),
      options_(std::move(options)),
      postings_(std::move(postings)),
      lists_(site_),
      facets_(kFacets.size()),
      rows_(std::move(rows)) {}

absl::StatusOr<SearchIndex> SearchIndex::Create(const std::string& site, SearchOptions options) {
  ASSIGN_OR_RETURN(Postings postings, Postings::Create(site, options.run_entries));
  ASSIGN_OR_RETURN(TempRecords rows, TempRecords::Create(site));
  return SearchIndex(site, std::move(options), std::move(postings), std::move(rows));
}

absl::Status SearchIndex::Add(const CatalogKernel& kernel, absl::string_view summary) {
  const KernelWords words = WordsOf(kernel, summary);
  RETURN_IF_ERROR(postings_.Add(words.uses, words.length, kernel.score));
  for (size_t i = 0; i < kFacets.size(); ++i) facets_[i].Add(kFacets[i].values(kernel));
  scores_.push_back(Thousandths(kernel.score));
  sizes_.push_back(Size(kernel.tokens));
  RETURN_IF_ERROR(rows_.Add(RowLine(kernel, summary)));
  return lists_.Add(kernel);
}

// The kernels as the site numbers them: those of the same operations together, the best first, as
// a search shows mostly these. Equal ones stay in the dataset's order.
std::vector<uint32_t> SearchIndex::SiteOrder() const {
  const FacetColumn& operations = facets_[kOperations];
  std::vector<uint32_t> order(scores_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const uint32_t set_a = operations.column()[a];
    const uint32_t set_b = operations.column()[b];
    // Sets with the same first values are neighbours.
    if (set_a != set_b) return operations.sets()[set_a] < operations.sets()[set_b];
    return scores_[a] > scores_[b];
  });
  return order;
}

// What the first page shows: the best by score, as the page itself would sort them.
absl::StatusOr<std::vector<std::string>> SearchIndex::BestRows(const std::vector<uint32_t>& order) {
  std::vector<uint32_t> best(order);
  std::stable_sort(best.begin(), best.end(),
                   [&](uint32_t a, uint32_t b) { return scores_[a] > scores_[b]; });
  best.resize(std::min(kTopRows, best.size()));
  std::vector<std::string> rows;
  for (const uint32_t kernel : best) {
    ASSIGN_OR_RETURN(std::string row, rows_.Read(kernel));
    rows.push_back(std::move(row));
  }
  return rows;
}

absl::StatusOr<size_t> SearchIndex::WriteFacets() const {
  std::vector<std::string> parts;
  for (size_t i = 0; i < facets_.size(); ++i) {
    AppendParts(
        i, "values", facets_[i].values(), [](const auto& value) { return JsonString(value); },
        &parts);
    AppendParts(
        i, "sets", facets_[i].sets(), [](const auto& set) { return JsonNumbers(set); }, &parts);
  }
  size_t files = 0;
  for (size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
    size_t bytes = 0;
    for (; end < parts.size() && (end == begin || bytes + parts[end].size() < kDataFile); ++end) {
      bytes += parts[end].size();
    }
    const auto some = absl::MakeConstSpan(parts).subspan(begin, end - begin);
    RETURN_IF_ERROR(WriteDataFile(site_, absl::StrCat("facets-", files++),
                                  absl::StrCat("[", absl::StrJoin(some, ",\n"), "]")));
  }
  return files;
}

absl::Status SearchIndex::WriteColumns() const {
  for (size_t i = 0; i < facets_.size(); ++i) {
    RETURN_IF_ERROR(WriteColumn(site_, kFacets[i].key, facets_[i].column()));
  }
  RETURN_IF_ERROR(WriteColumn(site_, "score", scores_));
  return WriteColumn(site_, "size", sizes_);
}

std::string SearchIndex::FacetsJson() const {
  std::vector<std::string> facets;
  for (size_t i = 0; i < kFacets.size(); ++i) {
    const FacetColumn& facet = facets_[i];
    std::vector<std::string> top;
    for (size_t j = 0; j < std::min(kTopValues, facet.values().size()); ++j) {
      top.push_back(absl::StrCat("[", JsonString(facet.values()[j]), ",", facet.counts()[j], "]"));
    }
    facets.push_back(absl::StrCat("{\"key\":\"", kFacets[i].key, "\",\"label\":\"",
                                  kFacets[i].label, "\",\"mode\":\"", kFacets[i].mode,
                                  "\",\"values\":", facet.values().size(), ",\"top\":[",
                                  absl::StrJoin(top, ","), "]}"));
  }
  return absl::StrCat("[", absl::StrJoin(facets, ",\n"), "]");
}

absl::Status SearchIndex::Finish() {
  for (FacetColumn& facet : facets_) facet.Order();
  const std::vector<uint32_t> order = SiteOrder();
  ASSIGN_OR_RETURN(const std::vector<std::string> best, BestRows(order));
  ASSIGN_OR_RETURN(const std::vector<uint32_t> row_files, WriteRowFiles(site_, rows_, order));
  const std::vector<uint32_t> places = PlacesIn(order);
  for (FacetColumn& facet : facets_) facet.Renumber(places);
  Reorder(places, &scores_);
  Reorder(places, &sizes_);
  ASSIGN_OR_RETURN(const std::vector<std::string> shards, postings_.Write(site_, places));
  ASSIGN_OR_RETURN(const size_t facet_files, WriteFacets());
  RETURN_IF_ERROR(WriteColumns());
  RETURN_IF_ERROR(WriteDataFile(
      site_, "meta",
      absl::StrCat("{\"kernels\":", scores_.size(), ",\"kernelsPerBlock\":", kKernelsInBlock,
                   ",\"facets\":", FacetsJson(), ",\"facetFiles\":", facet_files,
                   ",\"postings\":", JsonTexts(shards), ",\"rows\":", JsonNumbers(row_files),
                   ",\n\"top\":", JsonString(absl::StrJoin(best, "\n")), "}")));
  RETURN_IF_ERROR(lists_.Finish());
  const std::string noscript = absl::StrCat(
      "<p class=\"note\">Searching needs scripts. Every kernel also stands in the list of its "
      "operation, and the pages of kernels read without scripts.</p>\n",
      lists_.Links(""));
  return WriteSiteFile(site_, "index.html", IndexPage(options_.title, noscript));
}

}  // namespace kernelmill::client
