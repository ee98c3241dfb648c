#ifndef KERNELMILL_DATASET_CARD_CARD_H_
#define KERNELMILL_DATASET_CARD_CARD_H_

#include <cstdint>
#include <set>
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

// The licences of the kept kernels as the Hub names them: "mit", "apache-2.0". One that the Hub has
// no name for is "other", one that is not known is "unknown".
std::set<std::string> HubLicenses(const Json& report);

// The Hub's word for how many rows there are: "1K<n<10K".
std::string SizeCategory(int64_t rows);

// The YAML head of a dataset card, with its "---" lines. It names each table's files by split, the
// type of every field, since readers that guess these from a file's first rows guess wrong where a
// field is null in all of them, and how many rows each split has. A table without rows is left out:
// `datasets` takes none.
std::string FrontMatter(const Json& report, const std::vector<Table>& tables);

// croissant.json: the dataset in MLCommons' Croissant 1.1. Each file of JSON lines and of Parquet
// with its SHA-256, and of each table a record set over its Parquet files. Croissant's own reader
// knows lists of values and structs, and lists of flat structs; what is nested deeper is left to
// the files' schema. `created` is a time in ISO 8601.
Json Croissant(const Json& report, const std::string& created, const std::vector<Table>& tables);

// dataset_info.json, by which LLaMA-Factory reads instruct.jsonl (as `kernelmill_instruct`),
// fim.jsonl (`kernelmill_complete`: prompt and completion) and kernels.jsonl (`kernelmill_kernels`:
// modules to go on training with), as far as the report has rows of them.
Json DatasetInfo(const Json& report);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_CARD_CARD_H_
