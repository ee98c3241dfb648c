#ifndef KERNELMILL_DATASET_PARQUET_ROW_GROUP_H_
#define KERNELMILL_DATASET_PARQUET_ROW_GROUP_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
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

// An encoder of row groups. A column is a page, compressed with zstd; if its strings repeat, a page
// of their dictionary comes first. A group depends on its rows alone, so threads may encode
// the groups of a file at the same time, each with an encoder of its own.
//
// Its memory grows to what the largest group takes and stays: half of the page faults of an export
// were the fresh memory of row groups, and threads wait for each other in them. Not thread-safe.
class RowGroupEncoder {
 public:
  RowGroupEncoder();
  ~RowGroupEncoder();

  // Encodes framed rows (AppendFramed). DATA_LOSS: as Shred.
  absl::StatusOr<RowGroup> Encode(const Columns& columns, absl::string_view framed);

 private:
  class Encoding;

  std::unique_ptr<Encoding> encoding_;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PARQUET_ROW_GROUP_H_
