#ifndef KERNELMILL_DATASET_PARQUET_SHREDDER_H_
#define KERNELMILL_DATASET_PARQUET_SHREDDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataset/parquet/columns.h"

namespace kernelmill::dataset {

// What some rows have in one column.
struct ColumnValues {
  // In Parquet's PLAIN form: a string's length in 32 bits, then its bytes; 64 bits of an integer or
  // a double; little-endian. Of a boolean a byte.
  std::string values;
  int64_t value_count = 0;
  // An entry for each value and for each absence of one; without entries where the column's
  // highest level is 0.
  std::vector<uint8_t> definitions;
  std::vector<uint8_t> repetitions;
};

struct ShreddedRows {
  int64_t rows = 0;
  std::vector<ColumnValues> columns;  // as in Columns
};

// Takes rows, a JSON object a line, apart into columns. Each row has to have every field of the
// columns and no other. INVALID_ARGUMENT, with a JSON pointer to what is wrong: it has not, or a
// value is of another type; a line is no JSON.
absl::StatusOr<ShreddedRows> Shred(const Columns& columns, std::string lines);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PARQUET_SHREDDER_H_
