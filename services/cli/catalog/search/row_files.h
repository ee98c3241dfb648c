#ifndef KERNELMILL_SERVICES_CLI_CATALOG_SEARCH_ROW_FILES_H_
#define KERNELMILL_SERVICES_CLI_CATALOG_SEARCH_ROW_FILES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"

namespace kernelmill::cli {

// What results show of kernels, a line each: kept in a temp file until the order of all is known,
// then written in it, so that what one search shows lies in few files.
class RowFiles {
 public:
  static absl::StatusOr<RowFiles> Create(const std::string& temp_parent);

  // The next kernel's line, of at most 64 KiB and without a line end.
  absl::Status Add(absl::string_view row);

  // No line may be added after the first of these. `kernel`: as they were added.
  absl::StatusOr<std::string> Read(uint32_t kernel);
  // Writes data/rows/N.js and answers the place of each file's first row in `order`, which has all
  // kernels.
  absl::StatusOr<std::vector<uint32_t>> Write(const std::string& site,
                                              const std::vector<uint32_t>& order);

 private:
  explicit RowFiles(TempDir temp, FileDescriptor file)
      : temp_(std::move(temp)), file_(std::move(file)) {}
  absl::Status Flush();

  TempDir temp_;
  FileDescriptor file_;
  std::string buffer_;             // not in the file yet
  std::vector<uint64_t> ends_{0};  // where each row begins, and the last one ends
};

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_CATALOG_SEARCH_ROW_FILES_H_
