#ifndef KERNELMILL_CLIENT_CATALOG_SEARCH_SEARCH_INDEX_H_
#define KERNELMILL_CLIENT_CATALOG_SEARCH_SEARCH_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/catalog/entries/catalog_kernel.h"
#include "client/catalog/entries/temp_records.h"
#include "client/catalog/search/facet_column.h"
#include "client/catalog/search/operation_lists.h"
#include "client/catalog/search/postings.h"

namespace kernelmill::client {

struct SearchOptions {
  std::string title = "GPU kernels";
  size_t run_entries = 4 << 20;  // see Postings
};

// Writes what the first page finds kernels by: data/ (docs/architecture/catalog.md has the format),
// index.html and lists/. Holds about a hundred bytes a kernel in memory, and the postings that are
// not on disk yet. Equal kernels in equal order give equal bytes.
class SearchIndex {
 public:
  // `site`: the folder of the site, which is there.
  static absl::StatusOr<SearchIndex> Create(const std::string& site, SearchOptions options = {});

  // The next kernel, in the dataset's order; the site numbers them anew. `summary`: a sentence on
  // what it computes; may be "".
  absl::Status Add(const CatalogKernel& kernel, absl::string_view summary);

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
  std::vector<FacetColumn> facets_;  // as kFacets has them
  std::vector<uint32_t> scores_;     // thousandths
  std::vector<uint32_t> sizes_;      // tokens
  TempRecords rows_;                 // what results show, a line each
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_SEARCH_INDEX_H_
