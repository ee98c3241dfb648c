#ifndef KERNELMILL_DATASET_PARQUET_TABLES_H_
#define KERNELMILL_DATASET_PARQUET_TABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataset/rows/field.h"

namespace kernelmill::dataset {

// A file of an export.
struct WrittenFile {
  std::string path;    // from the export's root: "data/kernels/train-00000.parquet"
  int64_t size = 0;    // bytes
  std::string sha256;  // hexadecimal
};

// The rows of one split.
struct SplitFiles {
  std::string split;  // "train", "validation" or "test"
  int64_t rows = 0;
  int64_t json_bytes = 0;
  std::vector<WrittenFile> files;
};

// A file of JSON lines and the same rows as Parquet.
struct Table {
  std::string config;  // "kernels"
  WrittenFile lines;   // "kernels.jsonl"
  int64_t rows = 0;
  // In the order train, validation, test. Those that have rows; where there is no row at all an
  // empty train, so that the table can be loaded.
  std::vector<SplitFiles> splits;
};

// How the tables are cut: by these alone, never by threads.
struct TableLimits {
  int64_t group_rows = 1000;
  int64_t group_bytes = 8 << 20;   // of JSON in a row group; its last row may pass them
  int64_t file_bytes = 512 << 20;  // of JSON in a file, but where a single row group has more
};

// Reads the JSON lines of each schema in `dir`, and writes its rows beside them as
// data/CONFIG/SPLIT-00000.parquet and so on, by the rows' `split`, in their order. All rows of a
// schema without that field are train.
//
// `threads` encode; in memory are some four row groups for each of them and 16 bytes a row, not the
// tables.
//
// INTERNAL: a row is not as its schema says; NOT_FOUND: a file of lines is not there;
// RESOURCE_EXHAUSTED: the disk is full.
absl::StatusOr<std::vector<Table>> WriteTables(const std::string& dir,
                                               const std::vector<RowSchema>& schemas, int threads,
                                               const TableLimits& limits = {});

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PARQUET_TABLES_H_
