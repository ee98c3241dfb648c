#ifndef KERNELMILL_DATASET_PARQUET_ROW_GROUP_H_
#define KERNELMILL_DATASET_PARQUET_ROW_GROUP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dataset/parquet/columns.h"

namespace kernelmill::dataset {

// The place of a column in its row group, and what a reader wants to know before it reads.
struct ColumnChunk {
  bool dictionary = false;      // a dictionary page comes first
  int64_t dictionary_size = 0;  // bytes of that page, with its header
  int64_t levels = 0;           // entries, nulls and absences included
  int64_t compressed_size = 0;  // of all pages, with their headers
  int64_t uncompressed_size = 0;
  int64_t nulls = 0;  // entries without a value
  // The least and the greatest value, in PLAIN form without a string's length; unset if the column
  // has no values or long strings.
  std::optional<std::pair<std::string, std::string>> range;
};

// Some rows as Parquet has them, for any place of any file.
struct RowGroup {
  int64_t rows = 0;
  std::string bytes;  // the columns' pages, a column after the other
  std::vector<ColumnChunk> columns;
};

// Encodes framed rows (AppendFramed). A pure function, so that threads may encode the groups of a
// file at the same time. A column is a page, compressed with zstd; if its strings repeat, a page of
// their dictionary comes first. DATA_LOSS: as Shred.
absl::StatusOr<RowGroup> EncodeRowGroup(const Columns& columns, std::string framed);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PARQUET_ROW_GROUP_H_
