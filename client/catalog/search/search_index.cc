// The writer of the search's files. Add collects one kernel at a time: its words go to the
// postings, its facet values to columns, and its row (what a result shows) to a temp file. Finish
// chooses the site's order and writes everything in this order:
//
//   data/rows/N.js      what results show, some 96 KiB a file
//   data/postings/N.js  words with their kernels and weights
//   data/vocabulary.js  words of names and the like, for spelling mistakes
//   data/facets-N.js    values of facets, and sets of values
//   data/columns/...    for each kernel the number of its set, its score, its standing, its size
//   data/meta.js        counts, the most frequent values, and where the other files begin
//   index.html, lists/  the pages
//
// Until Finish a kernel has its number in the dataset. Afterwards all files use its number in the
// site's order, which puts kernels of the same operations beside each other: the results of one
// search then lie in few files of rows.

#include "client/catalog/search/search_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "client/catalog/search/data_files.h"
#include "client/catalog/search/kernel_words.h"
#include "client/catalog/search/numbering.h"
#include "client/catalog/search/overview.h"
#include "client/catalog/web/page.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

// Bytes of rows in a file, before JSON. Loading one more file costs a page as much as 100 KiB more.
constexpr size_t kRowFile = 96 << 10;

// Writes the rows that results show as data/rows/N.js, in `order`, which has all kernels. Returns
// the index in `order` of each file's first row. One search shows neighbours, which lie in few
// files.
absl::StatusOr<std::vector<uint32_t>> WriteRowFiles(const std::string& site, TempRecords& rows,
                                                    const std::vector<uint32_t>& order) {
  std::vector<uint32_t> firsts;
  for (uint32_t place = 0; place < order.size();) {
    const std::string name = absl::StrCat("rows/", firsts.size());
    firsts.push_back(place);
    std::string lines;
    do {
      ASSIGN_OR_RETURN(const std::string row, rows.Read(order[place]));
      absl::StrAppend(&lines, lines.empty() ? "" : "\n", row);
    } while (++place < order.size() && lines.size() < kRowFile);
    RETURN_IF_ERROR(WriteDataFile(site, name, JsonString(lines)));
  }
  return firsts;
}

// 2^17 numbers of four bytes in base64 stay below the limit of a file.
constexpr size_t kKernelsInBlock = 1 << 17;
constexpr size_t kTopRows = 20;    // rows on the first page
constexpr size_t kTopValues = 24;  // values of a facet on the first page
constexpr size_t kMaxName = 200;   // bytes shown
constexpr size_t kMaxPath = 300;
constexpr size_t kMaxSummary = 300;
constexpr size_t kMaxTagsShown = 12;
constexpr size_t kSetsTogether = 1000;  // sets in one part of facets-N.js
// A standing as an integer of two bytes, fine enough for a difference of 0.001 in the score.
constexpr double kStandingUnits = 60'000;

using Values = std::vector<std::string>;

Values YesNo(bool yes) { return {yes ? "yes" : "no"}; }

Values OneOrNone(absl::string_view value) {
  return value.empty() ? Values{} : Values{ShownText(value, kMaxName)};
}

Values Operations(const v1::KernelRow& kernel, const KernelNotes&) {
  Values values;
  for (const std::string& tag : kernel.tags()) {
    if (tag != "backward") values.push_back(ShownText(tag, kMaxName));
  }
  return values;
}

template <typename Texts>
Values Shown(const Texts& texts) {
  Values shown;
  for (const std::string& text : texts) shown.push_back(ShownText(text, kMaxName));
  return shown;
}

// Returns the toolchains and targets that compiled the kernel.
Values CompilesOn(const v1::KernelRow& kernel, const KernelNotes&) {
  Values values;
  if (FailsToCompile(kernel)) return {"nothing: it fails"};
  if (!kernel.has_compile()) return values;
  for (const v1::KernelRow::Compile::Result& result : kernel.compile().results()) {
    if (result.status() != v1::COMPILE_STATUS_OK) continue;
    values.push_back(ShownText(absl::StrCat(result.toolchain(), " · ", result.target()), kMaxName));
  }
  return values;
}

// Indexes in kFacets.
constexpr size_t kOperations = 0;
constexpr size_t kLanguages = 2;
constexpr size_t kHardware = 3;
constexpr size_t kKinds = 4;
constexpr size_t kLicenses = 5;
constexpr size_t kRepositories = 6;

struct FacetKind {
  absl::string_view key;  // in URLs
  absl::string_view label;
  absl::string_view mode;  // see web/src/data.ts
  absl::string_view note;  // what the values mean, if they do not say it
  Values (*values)(const v1::KernelRow&, const KernelNotes&);
};

// The page hides a facet if no kernel has a value, for example if the dataset lacks the column.
// `test` has no value `no`: the dataset may not know the tests.
constexpr std::array<FacetKind, 13> kFacets = {{
    {"op", "Operation", "all", "", &Operations},
    {"dir", "Direction", "any", "forward: not known to be a backward pass",
     [](const v1::KernelRow& kernel, const KernelNotes&) -> Values {
       return {HasTag(kernel, "backward") ? "backward" : "forward"};
     }},
    {"lang", "Language", "any", "",
     [](const v1::KernelRow& kernel, const KernelNotes&) -> Values {
       return {ShownText(kernel.dsl(), kMaxName)};
     }},
    {"hw", "Hardware", "any", "generic: not written for one vendor’s hardware",
     [](const v1::KernelRow& kernel, const KernelNotes&) { return OneOrNone(kernel.target()); }},
    {"kind", "Kind", "any", "operation: code launches it; helper: other kernels call it",
     [](const v1::KernelRow& kernel, const KernelNotes&) { return OneOrNone(kernel.kind()); }},
    {"licence", "Licence", "any", "",
     [](const v1::KernelRow& kernel, const KernelNotes&) -> Values {
       return {ShownText(kernel.license().expression(), kMaxName)};
     }},
    {"repo", "Repository", "any", "",
     [](const v1::KernelRow& kernel, const KernelNotes&) -> Values {
       return {ShownText(kernel.repository(), kMaxName)};
     }},
    {"dtype", "Element types", "all", "types that the code names",
     [](const v1::KernelRow&, const KernelNotes& notes) { return Shown(notes.dtypes); }},
    {"feature", "Features", "all", "",
     [](const v1::KernelRow& kernel, const KernelNotes&) { return Shown(kernel.features()); }},
    {"self", "Self-contained", "any", "yes: the module needs nothing else of its repository",
     [](const v1::KernelRow& kernel, const KernelNotes&) {
       return YesNo(kernel.self_contained());
     }},
    {"compile", "Compiles on", "all", "toolchain · target", &CompilesOn},
    {"run", "Executed on", "any", "device · worst outcome of its cases there",
     [](const v1::KernelRow&, const KernelNotes& notes) { return Shown(notes.runs); }},
    {"test", "Has a test", "any", "yes: a test launches it, or reaches it by other functions",
     [](const v1::KernelRow&, const KernelNotes& notes) {
       return notes.tested ? YesNo(true) : Values{};
     }},
}};

// Returns a score as an integer, which a column can hold in two bytes.
uint32_t Thousandths(double score) {
  return static_cast<uint32_t>(std::lround(std::clamp(score, 0.0, 1.0) * 1000));
}

uint32_t Size(int64_t tokens) {
  return static_cast<uint32_t>(std::clamp<int64_t>(tokens, 0, UINT32_MAX));
}

// Returns a row as web/src/data.ts reads it. ShownText removes tabs and line ends.
std::string RowLine(const v1::KernelRow& kernel, absl::string_view summary) {
  std::vector<std::string> fields = {
      ShownText(kernel.id(), kMaxName),
      ShownText(kernel.qualname(), kMaxName),
      ShownText(kernel.repository(), kMaxName),
      ShownText(kernel.path(), kMaxPath),
      absl::StrCat(kernel.first_line()),
      ShownText(kernel.dsl(), kMaxName),
      ShownText(kernel.license().expression(), kMaxName),
      absl::StrCat(Thousandths(kernel.quality().score())),
      absl::StrCat(Size(kernel.tokens().cl100k_base())),
      kernel.self_contained() ? "1" : "0",
      FailsToCompile(kernel) ? "1" : "0",
      ShownText(summary.empty() ? kernel.docstring() : summary, kMaxSummary)};
  const Values tags = Shown(kernel.tags());
  fields.insert(fields.end(), tags.begin(),
                tags.begin() + static_cast<ptrdiff_t>(std::min(kMaxTagsShown, tags.size())));
  return absl::StrJoin(fields, "\t");
}

// Appends values or sets of a facet as parts for the files facets-N.js.
template <typename Item, typename Json>
void AppendParts(size_t facet, absl::string_view member, const std::vector<Item>& items, Json json,
                 std::vector<std::string>* parts) {
  for (size_t begin = 0; begin < items.size(); begin += kSetsTogether) {
    // Small parts, so that files can be filled evenly whatever the sizes of the facets are.
    const auto some = absl::MakeConstSpan(items).subspan(begin, kSetsTogether);
    std::vector<std::string> texts;
    for (const Item& item : some) texts.push_back(json(item));
    parts->push_back(
        absl::StrCat("{\"facet\":", facet, ",\"", member, "\":[", absl::StrJoin(texts, ","), "]}"));
  }
}

// Writes columns/KEY-0.js, KEY-1.js, ...
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

// A kernel's number is the count of earlier Adds, in all parts of the index.
absl::Status SearchIndex::Add(const v1::KernelRow& kernel, const KernelNotes& notes) {
  const KernelWords words = CollectWords(kernel, notes.summary);
  const double standing = Standing(kernel);
  RETURN_IF_ERROR(postings_.Add(words.uses, words.length, standing));
  for (size_t i = 0; i < kFacets.size(); ++i) facets_[i].Add(kFacets[i].values(kernel, notes));
  scores_.push_back(Thousandths(kernel.quality().score()));
  standings_.push_back(static_cast<uint32_t>(std::lround(standing * kStandingUnits)));
  sizes_.push_back(Size(kernel.tokens().cl100k_base()));
  lists_.Add(kernel);
  return rows_.Add(RowLine(kernel, notes.summary));
}

// Returns the kernels in the site's order: by operations, then by falling standing, because one
// search mostly shows such neighbours. Equal ones stay in the dataset's order.
std::vector<uint32_t> SearchIndex::SiteOrder() const {
  const FacetColumn& operations = facets_[kOperations];
  std::vector<uint32_t> order(scores_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const uint32_t set_a = operations.column()[a];
    const uint32_t set_b = operations.column()[b];
    // Neighbouring sets have the same first values.
    if (set_a != set_b) return operations.sets()[set_a] < operations.sets()[set_b];
    return standings_[a] > standings_[b];
  });
  return order;
}

// Returns the rows of the first page: the best by standing, in the order of the page's script.
absl::StatusOr<std::vector<std::string>> SearchIndex::BestRows(const std::vector<uint32_t>& order) {
  std::vector<uint32_t> best(order);
  std::stable_sort(best.begin(), best.end(),
                   [&](uint32_t a, uint32_t b) { return standings_[a] > standings_[b]; });
  best.resize(std::min(kTopRows, best.size()));
  std::vector<std::string> rows;
  for (const uint32_t kernel : best) {
    ASSIGN_OR_RETURN(std::string row, rows_.Read(kernel));
    rows.push_back(std::move(row));
  }
  return rows;
}

// Writes facets-0.js, facets-1.js, ... and returns their number.
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
  // Put as many parts into a file as fit; a larger part gets a file of its own.
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
  RETURN_IF_ERROR(WriteColumn(site_, "standing", standings_));
  return WriteColumn(site_, "size", sizes_);
}

// Returns the facets as the first page needs them: the most frequent values with their counts. All
// values are in facets-N.js.
std::string SearchIndex::FacetsJson() const {
  std::vector<std::string> facets;
  for (size_t i = 0; i < kFacets.size(); ++i) {
    const FacetColumn& facet = facets_[i];
    std::vector<std::string> top;
    for (size_t j = 0; j < std::min(kTopValues, facet.values().size()); ++j) {
      top.push_back(absl::StrCat("[", JsonString(facet.values()[j]), ",", facet.counts()[j], "]"));
    }
    facets.push_back(absl::StrCat(
        "{\"key\":\"", kFacets[i].key, "\",\"label\":\"", kFacets[i].label, "\",\"mode\":\"",
        kFacets[i].mode, "\",\"note\":\"", kFacets[i].note, "\",\"values\":", facet.values().size(),
        ",\"top\":[", absl::StrJoin(top, ","), "]}"));
  }
  return absl::StrCat("[", absl::StrJoin(facets, ",\n"), "]");
}

absl::Status SearchIndex::Finish() {
  // The steps depend on each other: SiteOrder needs the final numbers of sets. BestRows and
  // WriteRowFiles read rows by their numbers in the dataset. Only then are all columns moved to the
  // site's numbers.
  for (FacetColumn& facet : facets_) facet.Order();
  const std::vector<uint32_t> order = SiteOrder();
  ASSIGN_OR_RETURN(const std::vector<std::string> best, BestRows(order));
  ASSIGN_OR_RETURN(const std::vector<uint32_t> row_files, WriteRowFiles(site_, rows_, order));
  RETURN_IF_ERROR(lists_.Finish(rows_, standings_));
  const std::vector<uint32_t> places = InvertOrder(order);
  for (FacetColumn& facet : facets_) facet.Renumber(places);
  Reorder(places, &scores_);
  Reorder(places, &standings_);
  Reorder(places, &sizes_);
  ASSIGN_OR_RETURN(const std::vector<std::string> shards, postings_.Write(site_, places));
  RETURN_IF_ERROR(postings_.WriteVocabulary(site_));
  ASSIGN_OR_RETURN(const size_t facet_files, WriteFacets());
  RETURN_IF_ERROR(WriteColumns());
  RETURN_IF_ERROR(WriteDataFile(
      site_, "meta",
      absl::StrCat("{\"kernels\":", scores_.size(), ",\"kernelsPerBlock\":", kKernelsInBlock,
                   ",\"facets\":", FacetsJson(), ",\"facetFiles\":", facet_files,
                   ",\"postings\":", JsonTexts(shards), ",\"rows\":", JsonNumbers(row_files),
                   ",\n\"top\":", JsonString(absl::StrJoin(best, "\n")), "}")));
  const std::string noscript = absl::StrCat(
      "<p class=\"note\">The search requires JavaScript. The lists of kernels by operation and the "
      "pages of kernels work without it.</p>\n",
      lists_.Links(""));
  const std::string overview = OverviewHtml({.kernels = scores_.size(),
                                             .operations = facets_[kOperations],
                                             .languages = facets_[kLanguages],
                                             .hardware = facets_[kHardware],
                                             .licenses = facets_[kLicenses],
                                             .repositories = facets_[kRepositories],
                                             .kinds = facets_[kKinds]});
  return WriteSiteFile(site_, "index.html", IndexPage(options_.title, overview, noscript));
}

}  // namespace kernelmill::client
