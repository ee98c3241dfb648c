#ifndef KERNELMILL_CLIENT_CATALOG_SEARCH_OPERATION_LISTS_H_
#define KERNELMILL_CLIENT_CATALOG_SEARCH_OPERATION_LISTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/catalog/entries/kernel_row.h"
#include "client/catalog/entries/temp_records.h"

namespace kernelmill::client {

// A writer of static lists of kernels by operation, for readers without scripts: lists/index.html,
// lists/OPERATION.html, OPERATION-2.html, ... A kernel is in the list of each of its tags; a kernel
// without tags is in `other`. It holds four bytes for each kernel of a list in memory. Not
// thread-safe.
class OperationLists {
 public:
  explicit OperationLists(std::string site) : site_(std::move(site)) {}

  // Adds the next kernel.
  void Add(const v1::KernelRow& kernel);

  // Writes the lists, each in the order of falling standings. `rows` and `standings` are by the
  // numbers of kernels; a row is as web/src/data.ts reads it.
  absl::Status Finish(TempRecords& rows, const std::vector<uint32_t>& standings);

  // Returns links to all lists as HTML. `root` leads from the page to the site's folder.
  std::string Links(absl::string_view root) const;

 private:
  absl::Status WriteList(const std::string& operation, const std::vector<uint32_t>& kernels,
                         TempRecords& rows) const;

  std::string site_;
  uint32_t added_ = 0;
  std::map<std::string, std::vector<uint32_t>> lists_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_SEARCH_OPERATION_LISTS_H_
