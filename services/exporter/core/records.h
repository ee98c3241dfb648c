#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_RECORDS_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_RECORDS_H_

#include <cstdint>
#include <string>

#include "common/dataset/fim.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/exporter/core/dataset_index.h"
#include "services/exporter/core/output/json.h"

namespace kernelmill::exporter {

// As records spell them: "triton", "device".
std::string DslWord(v1::Dsl dsl);
std::string RoleWord(v1::KernelRole role);

// Which kernel it is and where it stands: of a JSON file also in which string, `json_pointer`.
Json KernelLocation(const DatasetIndex& index, uint32_t number);

// What every record of a kernel begins with: its location and of what kind it is.
Json Provenance(const DatasetIndex& index, uint32_t number);

// A line of kernels.jsonl: a kept kernel with all that is known of it. Field docs are in
// kernel.proto. `inductor` is absent of what TorchInductor did not generate;
// `autotune`, `heuristics` and `launcher` are null where there are none.
Json KernelRecord(const DatasetIndex& index, uint32_t number, const v1::Kernel& kernel,
                  const v1::Verdict& verdict);

// A line of ledger.jsonl: what became of a kernel, and `of` which and by what `similarity` where it
// repeats another.
Json LedgerRecord(const DatasetIndex& index, uint32_t number);

// A line of notices.jsonl: a text that must go along with a source's kernels.
Json NoticeRecord(const SourceEntry& source, const v1::SourceFile& file);

// Whether the kernel's pair is a row of fim_sft.csv: it has a body, and is not CUDA. That file is
// the write-up's, which is of Triton, and its prompt is Python's: CUDA has cu2triton_sft.csv.
bool HasExample(const v1::Kernel& kernel, const dataset::FimPair& pair);

// An element of triton_functions.json, the shape that text completion trainers read: the
// self-contained text, fenced as Python.
Json FunctionRecord(const v1::Kernel& kernel);

// The stages that made the dataset: name to version.
Json StagesJson(const v1::DatasetManifest& manifest);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_RECORDS_H_
