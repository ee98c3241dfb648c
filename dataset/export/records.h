#ifndef KERNELMILL_DATASET_EXPORT_RECORDS_H_
#define KERNELMILL_DATASET_EXPORT_RECORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "dataset/export/dataset_index.h"
#include "dataset/output/json.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::dataset {

// Append lines of the .jsonl files, each with every field that schema/row_schemas.h has for its
// file.

// Of kernels.jsonl: a kept kernel with all that is known of it.
// `fim_sha1` is the identity of its row in fim_sft.csv, and empty where it has none since
// `fim_excluded`.
void AppendKernelRow(const DatasetIndex& index, uint32_t number, const v1::Kernel& kernel,
                     const v1::Verdict& verdict, absl::string_view fim_sha1,
                     absl::string_view fim_excluded, std::string* out);

// Of files.jsonl: a kept whole file, which holds the kept kernels of those ids.
void AppendFileRow(const DatasetIndex& index, uint32_t number, const v1::Kernel& file,
                   const v1::Verdict& verdict, const std::vector<std::string>& kernels,
                   std::string* out);

// Of ledger.jsonl: what became of a kernel.
void AppendLedgerRow(const DatasetIndex& index, uint32_t number, std::string* out);

// Of notices.jsonl: a text that must go along with a source's kernels.
void AppendNoticeRow(const SourceEntry& source, const v1::SourceFile& file, std::string* out);

// The stages that made the dataset: name to version.
Json StagesJson(const v1::DatasetManifest& manifest);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_RECORDS_H_
