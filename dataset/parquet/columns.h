#ifndef KERNELMILL_DATASET_PARQUET_COLUMNS_H_
#define KERNELMILL_DATASET_PARQUET_COLUMNS_H_

#include <string>
#include <vector>

#include "dataset/rows/field.h"

namespace kernelmill::dataset {

// Rows whose fields are structs and lists, as the flat columns that Parquet stores: one for each
// field that is neither.
//
// The basic idea (Dremel's): a value stands in its column with two small numbers. The definition
// level counts how many of the optional and repeated things on the way to the value are there, so
// that a null or an empty list, which has no value, still says by it what was missing. The
// repetition level says at which list on the way the value goes on: 0 begins a row.
//
// A field of a list is three levels of schema, as readers expect:
//   required group tags (LIST) { repeated group list { required binary element (STRING) } }

// A field of the schema. Its columns are [first_column, end_column).
struct ColumnNode {
  const Field* field;
  int definition;  // level of a value that is there; of a list: of one of its elements
  int repetition;  // level of a list's elements after the first, or that of what holds the field
  int first_column;
  int end_column;
  std::vector<ColumnNode> nodes;  // of a struct
  std::vector<int> by_name;  // of a struct: numbers of its nodes by their names, as JSON has them
};

struct Column {
  Field::Type type;
  int max_definition;
  int max_repetition;
  std::vector<std::string> path;  // in Parquet's schema: tags, list, element
};

class Columns {
 public:
  // Of `fields`, which must stay.
  explicit Columns(const Fields& fields);
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;

  const ColumnNode& root() const { return root_; }  // a struct of all fields; its `field` is null
  const std::vector<Column>& columns() const { return columns_; }

 private:
  void AddNodes(const Fields& fields, int definition, int repetition,
                const std::vector<std::string>& path, ColumnNode* parent);

  ColumnNode root_;
  std::vector<Column> columns_;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PARQUET_COLUMNS_H_
