#ifndef KERNELMILL_DATASET_ROWS_FIELD_H_
#define KERNELMILL_DATASET_ROWS_FIELD_H_

#include <string>
#include <vector>

namespace kernelmill::dataset {

// A field of a row: what readers that want one type a column (Arrow, Parquet, SQL) have to know.
struct Field {
  enum class Type { kString, kInteger, kNumber, kBoolean, kStruct };

  std::string name;
  Type type;
  std::string description;         // of what a value says, as docs/dataset.md says it at length
  std::vector<Field> fields = {};  // of a struct; all of them are always there
  std::vector<std::string> words = {};  // all that a string can be; empty: any
  bool list = false;                    // of values; empty where there are none, and never null
  bool nullable = false;                // null: does not apply, or not known
};

using Fields = std::vector<Field>;

// What every line of a file is.
struct RowSchema {
  std::string file;  // "kernels.jsonl"
  std::string description;
  Fields fields;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ROWS_FIELD_H_
