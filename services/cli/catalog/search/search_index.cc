#include "services/cli/catalog/search/search_index.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/cli/catalog/search/data_files.h"
#include "services/cli/catalog/search/kernel_words.h"
#include "services/cli/catalog/web/page.h"
#include "services/cli/catalog/web/site_file.h"
#include "services/cli/text/html_text.h"

namespace kernelmill::cli {
namespace {

constexpr size_t kRowsInShard = 64;
constexpr size_t kKernelsInBlock = 1 << 15;
constexpr size_t kTopRows = 20;    // what the first page shows
constexpr size_t kTopValues = 24;  // of a facet, on the first page
constexpr size_t kMaxName = 200;   // bytes that are shown
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

// As web/src/data.ts has a row.
std::string RowJson(const CatalogKernel& kernel, absl::string_view summary) {
  const auto text = [](absl::string_view value, size_t most) {
    return JsonString(ShownText(value, most));
  };
  Values tags = Shown(kernel.tags);
  if (tags.size() > kMaxTagsShown) tags.resize(kMaxTagsShown);
  return absl::StrCat(
      "[",
      absl::StrJoin(
          {text(kernel.id, kMaxName), text(kernel.qualname, kMaxName),
           text(kernel.repository, kMaxName), text(kernel.path, kMaxPath),
           absl::StrCat(kernel.first_line), absl::StrCat(kernel.last_line),
           text(kernel.dsl, kMaxName), text(kernel.license.expression, kMaxName), JsonTexts(tags),
           absl::StrCat(Thousandths(kernel.score)), absl::StrCat(Size(kernel.tokens)),
           std::string(kernel.self_contained ? "1" : "0"),
           text(summary.empty() ? kernel.docstring : summary, kMaxSummary)},
          ","),
      "]");
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

std::string BlockJson(const std::vector<uint32_t>& column, size_t begin) {
  return absl::StrCat(
      "\"", EncodeColumn(absl::MakeConstSpan(column).subspan(begin, kKernelsInBlock)), "\"");
}

}  // namespace

SearchIndex::SearchIndex(std::string site, SearchOptions options, Postings postings)
    : site_(std::move(site)),
      options_(std::move(options)),
      postings_(std::move(postings)),
      lists_(site_),
      facets_(kFacets.size()) {}

absl::StatusOr<SearchIndex> SearchIndex::Create(const std::string& site, SearchOptions options) {
  ASSIGN_OR_RETURN(Postings postings, Postings::Create(site, options.run_entries));
  return SearchIndex(site, std::move(options), std::move(postings));
}

absl::Status SearchIndex::Add(const CatalogKernel& kernel, absl::string_view summary) {
  const KernelWords words = WordsOf(kernel, summary);
  RETURN_IF_ERROR(postings_.Add(words.uses, words.length));
  for (size_t i = 0; i < kFacets.size(); ++i) facets_[i].Add(kFacets[i].values(kernel));
  scores_.push_back(Thousandths(kernel.score));
  sizes_.push_back(Size(kernel.tokens));
  RETURN_IF_ERROR(AddRow(kernel, summary));
  return lists_.Add(kernel);
}

absl::Status SearchIndex::AddRow(const CatalogKernel& kernel, absl::string_view summary) {
  rows_.push_back(RowJson(kernel, summary));
  KeepIfBest(scores_.back(), rows_.back());
  return rows_.size() < kRowsInShard ? absl::OkStatus() : FlushRows();
}

void SearchIndex::KeepIfBest(uint32_t score, const std::string& row) {
  const auto at = std::find_if(best_.begin(), best_.end(),
                               [&](const auto& other) { return other.first < score; });
  if (at == best_.end() && best_.size() == kTopRows) return;
  best_.insert(at, {score, row});
  if (best_.size() > kTopRows) best_.pop_back();
}

absl::Status SearchIndex::FlushRows() {
  if (rows_.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(WriteDataFile(site_, absl::StrCat("rows/", row_shards_++),
                                absl::StrCat("[", absl::StrJoin(rows_, ",\n"), "]")));
  rows_.clear();
  return absl::OkStatus();
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

absl::StatusOr<size_t> SearchIndex::WriteColumns() const {
  size_t blocks = 0;
  for (size_t begin = 0; begin < scores_.size(); begin += kKernelsInBlock) {
    std::vector<std::string> columns;
    for (const FacetColumn& facet : facets_) columns.push_back(BlockJson(facet.column(), begin));
    RETURN_IF_ERROR(WriteDataFile(site_, absl::StrCat("columns-", blocks++),
                                  absl::StrCat("{\"facets\":[", absl::StrJoin(columns, ","),
                                               "],\"score\":", BlockJson(scores_, begin),
                                               ",\"size\":", BlockJson(sizes_, begin), "}")));
  }
  return blocks;
}

std::string SearchIndex::MetaJson(const std::vector<std::string>& shards, size_t facet_files,
                                  size_t column_blocks) const {
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
  std::vector<std::string> rows;
  for (const auto& [score, row] : best_) rows.push_back(row);
  return absl::StrCat("{\"kernels\":", scores_.size(), ",\"rowsPerShard\":", kRowsInShard,
                      ",\"kernelsPerBlock\":", kKernelsInBlock, ",\"facets\":[",
                      absl::StrJoin(facets, ",\n"), "],\"facetFiles\":", facet_files,
                      ",\"columnBlocks\":", column_blocks, ",\"postings\":", JsonTexts(shards),
                      ",\n\"top\":[", absl::StrJoin(rows, ",\n"), "]}");
}

absl::Status SearchIndex::Finish() {
  RETURN_IF_ERROR(FlushRows());
  for (FacetColumn& facet : facets_) facet.Order();
  ASSIGN_OR_RETURN(const std::vector<std::string> shards, postings_.Write(site_));
  ASSIGN_OR_RETURN(const size_t facet_files, WriteFacets());
  ASSIGN_OR_RETURN(const size_t column_blocks, WriteColumns());
  RETURN_IF_ERROR(WriteDataFile(site_, "meta", MetaJson(shards, facet_files, column_blocks)));
  RETURN_IF_ERROR(lists_.Finish());
  const std::string noscript = absl::StrCat(
      "<p class=\"note\">Searching needs scripts. Every kernel also stands in the list of its "
      "operation, and the pages of kernels read without scripts.</p>\n",
      lists_.Links(""));
  return WriteSiteFile(site_, "index.html", IndexPage(options_.title, noscript));
}

}  // namespace kernelmill::cli
