#ifndef KERNELMILL_DATASET_CARD_FRONT_MATTER_H_
#define KERNELMILL_DATASET_CARD_FRONT_MATTER_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "dataset/output/json.h"
#include "dataset/parquet/tables.h"

namespace kernelmill::dataset {

// The licences of the kept kernels as the Hub names them: "mit", "apache-2.0". One that the Hub has
// no name for is "other", one that nobody knows "unknown".
std::set<std::string> HubLicenses(const Json& report);

// The Hub's word for how many rows there are: "1K<n<10K".
std::string SizeCategory(int64_t rows);

// The YAML head of a dataset card, with its "---" lines. It names each table's files by split, the
// type of every field, since readers that guess these from a file's first rows guess wrong where a
// field is null in all of them, and how many rows each split has. A table without rows is left out:
// `datasets` takes none.
std::string FrontMatter(const Json& report, const std::vector<Table>& tables);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_CARD_FRONT_MATTER_H_
