#ifndef KERNELMILL_DATASET_EXPORT_KERNEL_FILES_H_
#define KERNELMILL_DATASET_EXPORT_KERNEL_FILES_H_

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dataset/export/kernel_rows.h"
#include "dataset/output/files.h"

namespace kernelmill::dataset {

// The files of KernelFile, being written. Not thread-safe, but that several threads may append,
// each to files of its own.
class KernelFiles {
 public:
  // New files in `dir`, with what stands above their rows.
  static absl::StatusOr<KernelFiles> Create(const std::string& dir);

  // Appends a kernel's text to a file; none does nothing.
  absl::Status Append(KernelFile file, absl::string_view text);

  // Whether no example of that identity came before: of equal ones the first alone is a row.
  bool IsNewExample(const std::array<char, 20>& fim_sha1) {
    return examples_.insert(fim_sha1).second;
  }

  // Writes what stands below the rows. Nothing can be appended after.
  absl::Status Close();

 private:
  explicit KernelFiles(std::vector<FileWriter> files) : files_(std::move(files)) {}

  std::vector<FileWriter> files_;  // by KernelFile
  absl::flat_hash_set<std::array<char, 20>> examples_;
  bool first_function_ = true;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_KERNEL_FILES_H_
