#ifndef KERNELMILL_DATASET_ROWS_JSON_SCHEMA_H_
#define KERNELMILL_DATASET_ROWS_JSON_SCHEMA_H_

#include "dataset/output/json.h"
#include "dataset/rows/row_schema.h"

namespace kernelmill::dataset {

// The schema as a JSON Schema (draft 2020-12) of one row: strict, so that a row with a field more
// or less is refused.
Json JsonSchema(const RowSchema& schema);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ROWS_JSON_SCHEMA_H_
