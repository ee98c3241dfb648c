#ifndef KERNELMILL_CLIENT_CATALOG_SEARCH_SEARCH_INDEX_H_
#define KERNELMILL_CLIENT_CATALOG_SEARCH_SEARCH_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/catalog/entries/kernel_row.h"
#include "client/catalog/entries/temp_records.h"
#include "client/catalog/search/facet_column.h"
#include "client/catalog/search/operation_lists.h"
#include "client/catalog/search/postings.h"

namespace kernelmill::client {

struct SearchOptions {
  std::string title = "GPU kernels";
  size_t run_entries = 4 << 20;  // see Postings::Create
};

// Facts of a kernel beside its row: of its description, and of its rows in other files.
struct KernelNotes {
  std::string summary;              // a sentence, or empty
  std::vector<std::string> dtypes;  // element types that the code names
  bool tested = false;              // a test is known to run it
  std::vector<std::string> runs;    // "cpu · exact": each device, with the worst outcome there
};

// A writer of the search: data/ (docs/architecture/catalog.md has the format), index.html and
// lists/. It uses about a hundred bytes a kernel in memory, and a bounded buffer of postings. Equal
// kernels in equal order give equal bytes. Not thread-safe.
class SearchIndex {
 public:
  // `site` is the folder of the site, which must exist.
  static absl::StatusOr<SearchIndex> Create(const std::string& site, SearchOptions options = {});

  // Adds the next kernel of the dataset; the site has its own order.
  absl::Status Add(const v1::KernelRow& kernel, const KernelNotes& notes);

  absl::Status Finish();

 private:
  SearchIndex(std::string site, SearchOptions options, Postings postings, TempRecords rows);

  std::vector<uint32_t> SiteOrder() const;
  absl::StatusOr<std::vector<std::string>> BestRows(const std::vector<uint32_t>& order);
  absl::StatusOr<size_t> WriteFacets() const;
  absl::Status WriteColumns() const;
  std::string FacetsJson() const;

  std::string site_;
  SearchOptions options_;
  Postings postings_;
  OperationLists lists_;
  std::vector<FacetColumn> facets_;  // in the order of kFacets
  std::vector<uint32_t> scores_;     // thousandths
  std::vector<uint32_t> standings_;  // of 60,000
  std::vector<uint32_t> sizes_;      // tokens
  TempRecords rows_;                 // the rows that results show, one line each
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_SEARCH_INDEX_H_
