// The writer of the catalog's site. It reads kernels.jsonl twice:
//
//   1. ReadAll reads each kernel once and collects what pages of other kernels need: a
//      CatalogEntry, the coverage, the Markdown index, the search index, and the runs of tokens in
//      a temp file. Then the relatives of all kernels are known.
//   2. WriteKernels reads each kernel again and writes its page, with its relatives.
//
// The texts of kernels are never all in memory: the second pass reads the one kernel that a page
// compares side by side by its offset. Kernels are numbered from 0 in the order of the file; a
// number is an index into `entries_` and `relatives_`.
//
// The site is written into a staging folder, which replaces the earlier site when it is complete.
// So an error or an interrupt leaves the earlier site as it was.

#include "client/catalog/catalog.h"

#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/catalog/coverage/coverage.h"
#include "client/catalog/describe/description.h"
#include "client/catalog/entries/kernel_row.h"
#include "client/catalog/entries/notices.h"
#include "client/catalog/entries/rows_by_kernel.h"
#include "client/catalog/markdown/triton_index.h"
#include "client/catalog/pages/kernel_page.h"
#include "client/catalog/pages/site_pages.h"
#include "client/catalog/relatives/relatives.h"
#include "client/catalog/search/kernel_words.h"
#include "client/catalog/search/search_index.h"
#include "client/catalog/web/page.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "dataset/output/output_dir.h"

namespace kernelmill::client {
namespace {

constexpr const char* kFiles[] = {"index.html", "learn.html", "coverage.html", "coverage.json",
                                  "TRITON_INDEX.md"};
constexpr dataset::OutputFolder kFolders[] = {{"assets", ""},       {"data", ".js"},
                                              {"kernels", ".html"}, {"lists", ".html"},
                                              {"notices", ".html"}, {"triton-index", ".md"}};
constexpr int64_t kMaxMark = 4 << 20;

// Returns whether coverage.json is from an earlier catalog. The layout uses it to tell an earlier
// site, which may be replaced, from a folder of other files.
bool IsOurs(const std::string& coverage) {
  const absl::StatusOr<std::string> text = ReadFile(coverage, kMaxMark);
  return text.ok() && absl::StrContains(*text, "\"operations\"");
}

// Returns the files that a site's folder may have.
const dataset::OutputLayout& SiteLayout() {
  static constexpr dataset::OutputLayout kLayout = {kFiles,
                                                    kFolders,
                                                    "coverage.json",
                                                    IsOurs,
                                                    "which kernelmill catalog did not create",
                                                    "is not empty and has no earlier catalog"};
  return kLayout;
}

// Bytes of a Markdown file: below kMaxSiteFile.
constexpr size_t kMaxIndexFile = 900'000;
constexpr double kWorthComparing = 0.3;  // the least similarity for a side-by-side view

bool TakesStrides(const v1::KernelRow& kernel) {
  for (const v1::KernelRow::Parameter& parameter : kernel.parameters()) {
    if (parameter.role() == v1::PARAMETER_ROLE_STRIDE) return true;
  }
  return false;
}

bool Compiles(const v1::KernelRow& kernel) {
  if (!kernel.has_compile()) return false;
  for (const v1::KernelRow::Compile::Result& result : kernel.compile().results()) {
    if (result.status() == v1::COMPILE_STATUS_OK) return true;
  }
  return false;
}

// Returns whether a test launches the kernel, or reaches it by other functions.
bool IsTested(const v1::KernelRow& kernel, const std::optional<v1::ReferenceRow>& reference) {
  return !ListTestFiles(kernel).empty() ||
         (reference && reference->has_test() && reference->status() != "benchmark");
}

// Returns each device on which the kernel ran, with the worst outcome there.
std::vector<std::string> ListRuns(const v1::TaskRow& task) {
  std::vector<std::string> runs;
  for (const v1::TaskRow::Outcomes& of : task.outcomes()) {
    const char* const worst = of.different() > 0 ? "different"
                              : of.error() > 0   ? "error"
                              : of.close() > 0   ? "close"
                              : of.exact() > 0   ? "exact"
                                                 : "not judged";
    runs.push_back(absl::StrCat(of.device(), " · ", worst));
  }
  return runs;
}

// Returns the part of a kernel that stays in memory. The caller adds the sketch, and whether it is
// tested.
CatalogEntry MakeEntry(const v1::KernelRow& kernel, int64_t offset, const CodeFacts& facts) {
  CatalogEntry entry;
  entry.id = kernel.id();
  entry.offset = offset;
  entry.repository = kernel.repository();
  entry.path = kernel.path();
  entry.first_line = kernel.first_line();
  entry.name = kernel.name();
  entry.qualname = kernel.qualname();
  entry.dsl = kernel.dsl();
  entry.kind = kernel.kind();
  entry.license = kernel.license().expression();
  entry.summary = Summary(kernel).substr(0, 300);
  if (kernel.has_launcher()) {
    entry.launcher = absl::StrCat(kernel.launcher().path(), " ", kernel.launcher().qualname());
  }
  entry.tags = {kernel.tags().begin(), kernel.tags().end()};
  entry.features = {kernel.features().begin(), kernel.features().end()};
  entry.dtypes = facts.dtypes;
  entry.lines = CountLines(kernel);
  entry.score = kernel.quality().score();
  entry.standing = Standing(kernel);
  entry.comment_ratio = kernel.quality().comment_ratio();
  entry.self_contained = kernel.self_contained();
  entry.documented = !kernel.docstring().empty();
  entry.compiles = Compiles(kernel);
  entry.strided = TakesStrides(kernel);
  entry.decorated = !OwnDecorators(kernel).empty();
  return entry;
}

// A writer of a site into a folder, file by file.
class SiteWriter {
 public:
  SiteWriter(const std::string& dataset, const std::string& site, const CatalogProgress& progress)
      : dataset_(dataset), site_(site), progress_(progress), index_(kMaxIndexFile) {}

  // The order is fixed: pages of kernels link to notices and to relatives, and the rest shows all
  // kernels.
  absl::StatusOr<CatalogSums> Write() {
    ASSIGN_OR_RETURN(duplicates_, ReadDuplicates(dataset_));
    ASSIGN_OR_RETURN(tasks_, RowsByKernel<v1::TaskRow>::Open(
                                 dataset_, "id", [](const auto& row) { return row.id(); }));
    ASSIGN_OR_RETURN(references_,
                     RowsByKernel<v1::ReferenceRow>::Open(
                         dataset_, "kernel_id", [](const auto& row) { return row.kernel_id(); }));
    RETURN_IF_ERROR(WriteNotices());
    RETURN_IF_ERROR(ReadAll());
    RETURN_IF_ERROR(WriteKernels());
    RETURN_IF_ERROR(WriteRest());
    CatalogSums sums{.kernels = static_cast<int64_t>(entries_.size()),
                     .operations = static_cast<int64_t>(coverage_.operations().size()),
                     .needs = static_cast<int64_t>(coverage_.needs().size())};
    for (const OperationCoverage& each : coverage_.operations()) sums.covered += each.found() > 0;
    return sums;
  }

 private:
  // CANCELLED: the callback asks to stop.
  absl::Status ReportProgress(int64_t done, size_t all) {
    return progress_(done, static_cast<int64_t>(all)) ? absl::OkStatus()
                                                      : absl::CancelledError("interrupted");
  }

  // Writes one page for each notice, named by its hash.
  absl::Status WriteNotices() {
    return ForEachNotice(dataset_, [&](const Notice& notice) {
      const std::string key = absl::StrCat(notice.repository, "\n", notice.path, "\n", notice.text);
      const std::string page = absl::StrCat(Sha256Hex(key).substr(0, 16), ".html");
      notices_[notice.repository].emplace_back(notice.path, page);
      return WriteSiteFile(site_, absl::StrCat("notices/", page), NoticePage(notice));
    });
  }

  // Runs the first pass. It also writes the files of the search, which need no relatives.
  absl::Status ReadAll() {
    ASSIGN_OR_RETURN(SearchIndex search, SearchIndex::Create(site_));
    ASSIGN_OR_RETURN(RunRecords runs, RunRecords::Create(site_));
    RETURN_IF_ERROR(ForEachKernel(
        dataset_, [&](const v1::KernelRow& kernel, const dataset::RowPlace& place) -> absl::Status {
          const CodeFacts facts = ReadCodeFacts(kernel);
          ASSIGN_OR_RETURN(const std::optional<v1::TaskRow> task, tasks_.Find(kernel.id()));
          ASSIGN_OR_RETURN(const std::optional<v1::ReferenceRow> reference,
                           references_.Find(kernel.id()));
          CatalogEntry entry = MakeEntry(kernel, place.offset, facts);
          entry.tested = IsTested(kernel, reference);
          coverage_.Add(entry, static_cast<uint32_t>(entries_.size()));
          index_.Add(kernel, Describe(kernel, facts), CountDuplicates(kernel.id()));
          RETURN_IF_ERROR(
              search.Add(kernel, {.summary = entry.summary,
                                  .dtypes = entry.dtypes,
                                  .tested = entry.tested,
                                  .runs = task ? ListRuns(*task) : std::vector<std::string>()}));
          const std::vector<uint64_t> own_runs = HashRuns(kernel);
          entry.sketch = MakeSketch(own_runs);
          RETURN_IF_ERROR(runs.Add(own_runs));
          entries_.push_back(std::move(entry));
          return ReportProgress(static_cast<int64_t>(entries_.size()), 0);
        }));
    coverage_.Finish();
    RETURN_IF_ERROR(search.Finish());
    ASSIGN_OR_RETURN(relatives_, FindRelatives(entries_, runs));
    return absl::OkStatus();
  }

  int64_t CountDuplicates(const std::string& id) const {
    const auto at = duplicates_.find(id);
    return at == duplicates_.end() ? 0 : at->second.count;
  }

  // Runs the second pass: writes one page for each kernel. DATA_LOSS: the file has more rows than
  // the first pass read, so that the numbers no longer belong to the same kernels.
  absl::Status WriteKernels() {
    uint32_t number = 0;
    ASSIGN_OR_RETURN(dataset::RowReader again,
                     dataset::RowReader::Open(dataset_, dataset::GetSchema<v1::KernelRow>(),
                                              {.fields = {"id", "source"}}));
    return ForEachKernel(
        dataset_, [&](const v1::KernelRow& kernel, const dataset::RowPlace&) -> absl::Status {
          if (number == entries_.size())
            return absl::DataLossError("kernels.jsonl has grown since it was read");
          RETURN_IF_ERROR(WriteKernel(kernel, number++, again));
          return ReportProgress(static_cast<int64_t>(number), entries_.size());
        });
  }

  // `again`: reads the rows that kernels are compared with.
  absl::Status WriteKernel(const v1::KernelRow& kernel, uint32_t number,
                           dataset::RowReader& again) {
    const std::vector<Sentence> sentences = Describe(kernel, ReadCodeFacts(kernel));
    KernelPageInput input{.kernel = kernel, .sentences = sentences};
    const auto duplicates = duplicates_.find(kernel.id());
    if (duplicates != duplicates_.end()) input.duplicates = &duplicates->second;
    for (const Relative& relative : relatives_[number]) {
      input.relatives.push_back({&entries_[relative.entry], relative});
    }
    // Relatives are sorted: the first one is the nearest. A less similar text beside this one would
    // mostly show lines that differ.
    if (!input.relatives.empty() && input.relatives[0].relative.similarity >= kWorthComparing) {
      input.compared = input.relatives[0].entry;
      v1::KernelRow compared;
      RETURN_IF_ERROR(again.ReadAt(input.compared->offset, &compared));
      input.compared_source = std::move(*compared.mutable_source());
    }
    ASSIGN_OR_RETURN(const std::optional<v1::TaskRow> task, tasks_.Find(kernel.id()));
    ASSIGN_OR_RETURN(const std::optional<v1::ReferenceRow> reference,
                     references_.Find(kernel.id()));
    input.execution = {task ? &*task : nullptr, reference ? &*reference : nullptr};
    const auto notices = notices_.find(kernel.repository());
    if (notices != notices_.end()) input.notices = notices->second;
    return WriteSiteFile(site_, KernelPagePath(kernel.id()), KernelPage(input));
  }

  absl::Status WriteRest() {
    RETURN_IF_ERROR(WriteSiteFile(site_, "learn.html", LearnPage(entries_)));
    RETURN_IF_ERROR(WriteSiteFile(site_, "coverage.html", CoveragePage(coverage_, entries_)));
    RETURN_IF_ERROR(WriteSiteFile(site_, "coverage.json", CoverageJson(coverage_, entries_)));
    for (const auto& [path, content] : index_.Files()) {
      RETURN_IF_ERROR(WriteSiteFile(site_, path, content));
    }
    return WriteAssets(site_);
  }

  const std::string& dataset_;
  const std::string& site_;
  const CatalogProgress& progress_;
  std::vector<CatalogEntry> entries_;
  std::vector<std::vector<Relative>> relatives_;
  absl::flat_hash_map<std::string, Duplicates> duplicates_;
  RowsByKernel<v1::TaskRow> tasks_;
  RowsByKernel<v1::ReferenceRow> references_;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> notices_;
  Coverage coverage_;
  TritonIndex index_;
};

}  // namespace

absl::StatusOr<CatalogSums> WriteCatalog(const std::string& dataset, const std::string& out,
                                         const CatalogProgress& progress) {
  ASSIGN_OR_RETURN(dataset::StagingDir staging, dataset::StagingDir::Create(out, SiteLayout()));
  ASSIGN_OR_RETURN(const CatalogSums sums, SiteWriter(dataset, staging.path(), progress).Write());
  RETURN_IF_ERROR(staging.Commit());
  return sums;
}

// The coverage needs only the first pass without the pages, the index and the search.
absl::StatusOr<std::vector<std::string>> ReadWanted(const std::string& dataset, size_t limit) {
  Coverage coverage;
  uint32_t number = 0;
  RETURN_IF_ERROR(
      ForEachKernel(dataset, [&](const v1::KernelRow& kernel, const dataset::RowPlace& place) {
        coverage.Add(MakeEntry(kernel, place.offset, ReadCodeFacts(kernel)), number++);
        return absl::OkStatus();
      }));
  coverage.Finish();
  return WantedSearches(coverage, limit);
}

}  // namespace kernelmill::client
