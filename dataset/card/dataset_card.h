#ifndef KERNELMILL_DATASET_CARD_DATASET_CARD_H_
#define KERNELMILL_DATASET_CARD_DATASET_CARD_H_

#include <string>
#include <vector>

#include "dataset/output/json.h"
#include "dataset/parquet/tables.h"

namespace kernelmill::dataset {

// The README.md of an export: a dataset card as Hugging Face's `datasets` and Hub read it. Its head
// (FrontMatter) is for programs; what follows says to people what the dataset is, what became of
// every kernel, how it was made and under which licences, what it was held against, and how it is
// loaded. All of it is of `report`, which is report.json, and of the tables that were written.
std::string DatasetCard(const Json& report, const std::vector<Table>& tables);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_CARD_DATASET_CARD_H_
