#ifndef KERNELMILL_DATASET_ROWS_ROW_SCHEMAS_H_
#define KERNELMILL_DATASET_ROWS_ROW_SCHEMAS_H_

#include <vector>

#include "dataset/rows/field.h"

namespace kernelmill::dataset {

// The fields of every .jsonl file of an export: the one table that docs/schema, docs/dataset.md and
// the tests of rows are held to. One rule for absence holds in all of them:
//
//   every row has every field of its file, and every struct all of its own;
//   null: the field does not apply to the row, or nothing is known; "" is a text that is empty and
//   no absence; a list is empty where there is nothing, and never null; no field's name is data:
//   what has names of its own is a list of structs with a `name`.
const std::vector<RowSchema>& RowSchemas();

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ROWS_ROW_SCHEMAS_H_
