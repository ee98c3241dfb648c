#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_CARD_DATASET_CARD_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_CARD_DATASET_CARD_H_

#include <string>
#include <vector>

#include "services/exporter/core/output/json.h"
#include "services/exporter/core/parquet/tables.h"

namespace kernelmill::exporter {

// The README.md of an export: a dataset card as Hugging Face's `datasets` and Hub read it. Its head
// (FrontMatter) is for programs; what follows says to people what the dataset is, what became of
// every kernel, how it was made and under which licences, what it was held against, and how it is
// loaded. All of it is of `report`, which is report.json, and of the tables that were written.
std::string DatasetCard(const Json& report, const std::vector<Table>& tables);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_CARD_DATASET_CARD_H_
