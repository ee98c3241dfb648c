#ifndef KERNELMILL_DATASET_PARQUET_FILE_H_
#define KERNELMILL_DATASET_PARQUET_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "dataset/output/files.h"
#include "dataset/parquet/columns.h"
#include "dataset/parquet/row_group.h"

namespace kernelmill::dataset {

// A new Parquet file, of row groups in the order in which they are given. Its bytes depend on these
// alone. Not thread-safe. RESOURCE_EXHAUSTED: the disk is full.
class ParquetFile {
 public:
  // `columns` must stay.
  static absl::StatusOr<ParquetFile> Create(const std::string& path, const Columns* columns);

  absl::Status Append(RowGroup group);
  // Writes the footer. Nothing can be appended after; the rest can be asked.
  absl::Status Close();

  int64_t rows() const { return rows_; }
  int64_t size() const { return size_; }                 // bytes
  const std::string& sha256() const { return sha256_; }  // hexadecimal

 private:
  ParquetFile(FileWriter file, const Columns* columns)
      : file_(std::move(file)), columns_(columns), hash_(std::make_unique<Sha256Stream>()) {}
  absl::Status Write(absl::string_view bytes);

  FileWriter file_;
  const Columns* columns_;
  std::vector<std::pair<int64_t, RowGroup>> groups_;  // each with its offset and without its bytes
  std::unique_ptr<Sha256Stream> hash_;
  int64_t rows_ = 0;
  int64_t size_ = 0;
  std::string sha256_;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PARQUET_FILE_H_
