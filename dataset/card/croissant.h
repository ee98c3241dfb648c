#ifndef KERNELMILL_DATASET_CARD_CROISSANT_H_
#define KERNELMILL_DATASET_CARD_CROISSANT_H_

#include <string>
#include <vector>

#include "dataset/output/json.h"
#include "dataset/parquet/tables.h"

namespace kernelmill::dataset {

// croissant.json: the dataset in MLCommons' Croissant 1.1. Each file of JSON lines and of Parquet
// with its SHA-256, and of each table a record set over its Parquet files. Croissant's own reader
// knows lists of values and structs, and lists of flat structs; what is nested deeper is left to
// the files' schema. `created` is a time in ISO 8601.
Json Croissant(const Json& report, const std::string& created, const std::vector<Table>& tables);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_CARD_CROISSANT_H_
