#ifndef KERNELMILL_DATASET_OUTPUT_FILES_H_
#define KERNELMILL_DATASET_OUTPUT_FILES_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"

namespace kernelmill::dataset {

// A new file, written through a buffer. It is on the disk once its directory was synced as a whole
// (StagingDir::Commit). Not thread-safe. RESOURCE_EXHAUSTED: the disk is full.
class FileWriter {
 public:
  static absl::StatusOr<FileWriter> Create(const std::string& path);

  absl::Status Append(absl::string_view bytes);
  // Writes what is left. Nothing can be appended after.
  absl::Status Close();

 private:
  FileWriter(std::string path, FileDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}
  absl::Status Flush();
  absl::Status Write(absl::string_view bytes);

  std::string path_;
  FileDescriptor file_;
  int64_t written_ = 0;  // bytes in the file; buffer_ follows them
  std::string buffer_;
};

// An unnamed temporary file, for records that are made in one order and needed in another. Not
// thread-safe, except Read. RESOURCE_EXHAUSTED: the disk is full.
class TempFile {
 public:
  struct Extent {
    int64_t offset = 0;
    int64_t size = 0;
  };

  // The file lies in `dir` and goes with this object.
  static absl::StatusOr<TempFile> Create(const std::string& dir);

  absl::StatusOr<Extent> Append(absl::string_view bytes);
  // Before anything is read that was appended since.
  absl::Status Flush();
  absl::StatusOr<std::string> Read(Extent extent) const;
  // Appends to `out`.
  absl::Status Read(Extent extent, std::string* out) const;
  // Forgets all records.
  absl::Status Clear();

 private:
  explicit TempFile(FileDescriptor file) : file_(std::move(file)) {}
  absl::Status Write(absl::string_view bytes);

  FileDescriptor file_;
  int64_t written_ = 0;  // bytes in the file; buffer_ follows them
  std::string buffer_;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_OUTPUT_FILES_H_
