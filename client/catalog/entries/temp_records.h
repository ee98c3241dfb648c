#ifndef KERNELMILL_CLIENT_CATALOG_ENTRIES_TEMP_RECORDS_H_
#define KERNELMILL_CLIENT_CATALOG_ENTRIES_TEMP_RECORDS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"

namespace kernelmill::client {

// Bytes of each kernel that are read again later, in any order: in a temp file, so that memory
// holds eight bytes a kernel.
class TempRecords {
 public:
  static absl::StatusOr<TempRecords> Create(const std::string& temp_parent);

  // Adds the bytes of the next kernel.
  absl::Status Add(absl::string_view bytes);

  // Returns the bytes of the kernel with this number. Nothing may be added afterwards.
  absl::StatusOr<std::string> Read(uint32_t number);

 private:
  explicit TempRecords(TempDir temp, FileDescriptor file)
      : temp_(std::move(temp)), file_(std::move(file)) {}
  absl::Status Flush();

  TempDir temp_;
  FileDescriptor file_;
  std::string buffer_;             // not in the file yet
  std::vector<uint64_t> ends_{0};  // where each record begins, and the last one ends
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_ENTRIES_TEMP_RECORDS_H_
