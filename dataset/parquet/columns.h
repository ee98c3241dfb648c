#ifndef KERNELMILL_DATASET_PARQUET_COLUMNS_H_
#define KERNELMILL_DATASET_PARQUET_COLUMNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "dataset/rows/row_schema.h"

namespace kernelmill::dataset {

// Row messages, whose fields are structs and lists, as the flat columns that Parquet stores: one
// for each field that is neither.
//
// The basic idea (Dremel's): each value has two small numbers beside it. The definition level
// counts how many of the optional and repeated things on the way to the value are there, so that a
// null or an empty list, which has no value, still says what was missing. The repetition level says
// at which list on the way the value goes on: 0 begins a row.
//
// A field that is a list is three levels of schema, as readers expect:
//   required group tags (LIST) { repeated group list { required binary element (STRING) } }

// A field of the schema. Its columns are [first_column, end_column).
struct ColumnNode {
  const Field* field;
  int definition;  // level of a value that is there; of a list: of one of its elements
  int repetition;  // level of a list's elements after the first, or that of what holds the field
  int first_column;
  int end_column;
  std::vector<ColumnNode> nodes;  // the fields of a struct
};

struct Column {
  Field::Type type;
  int max_definition;
  int max_repetition;
  std::vector<std::string> path;  // in Parquet's schema: tags, list, element
};

class Columns {
 public:
  // `schema` must outlive it.
  explicit Columns(const RowSchema& schema);
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;

  const RowSchema& schema() const { return schema_; }
  const std::vector<ColumnNode>& nodes() const { return nodes_; }
  const std::vector<Column>& columns() const { return columns_; }

 private:
  std::vector<ColumnNode> MakeNodes(const Fields& fields, int definition, int repetition,
                                    const std::vector<std::string>& path);

  const RowSchema& schema_;
  std::vector<ColumnNode> nodes_;
  std::vector<Column> columns_;
};

// The values of some rows in one column.
struct ColumnValues {
  // In Parquet's PLAIN form: a string's length in 32 bits, then its bytes; 64 bits of an integer or
  // a double; little-endian. A boolean is a byte.
  std::string values;
  int64_t value_count = 0;
  // An entry for each value and for each absence of one; empty if the column's highest level is 0.
  std::vector<uint8_t> definitions;
  std::vector<uint8_t> repetitions;
};

struct ShreddedRows {
  int64_t rows = 0;
  std::vector<ColumnValues> columns;  // as in Columns
};

// Appends a serialized row to others that Shred takes: its size in 32 bits, then its bytes.
void AppendFramed(absl::string_view row, std::string* rows);

// Takes rows apart into columns, in the memory of the rows that `shredded` had. DATA_LOSS: they are
// not serialized rows of that schema.
absl::Status Shred(const Columns& columns, absl::string_view rows, ShreddedRows* shredded);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PARQUET_COLUMNS_H_
