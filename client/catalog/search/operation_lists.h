#ifndef KERNELMILL_CLIENT_CATALOG_SEARCH_OPERATION_LISTS_H_
#define KERNELMILL_CLIENT_CATALOG_SEARCH_OPERATION_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/catalog/entries/kernel_row.h"

namespace kernelmill::client {

// A writer of static lists of kernels by operation, for readers without scripts: lists/index.html,
// lists/OPERATION.html, OPERATION-2.html, ... A kernel is in the list of each of its tags; a kernel
// without tags is in `other`. It holds at most one page of each list in memory. Not thread-safe.
class OperationLists {
 public:
  explicit OperationLists(std::string site) : site_(std::move(site)) {}

  absl::Status Add(const v1::KernelRow& kernel);
  absl::Status Finish();

  // Returns links to all lists as HTML. `root` leads from the page to the site's folder.
  std::string Links(absl::string_view root) const;

 private:
  struct List {
    int64_t kernels = 0;
    int page = 1;
    size_t rows_on_page = 0;
    std::string rows;
  };

  absl::Status WritePage(const std::string& operation, List& list, bool more);
  absl::Status AddRow(const std::string& operation, const std::string& row);

  std::string site_;
  std::map<std::string, List> lists_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_OPERATION_LISTS_H_
