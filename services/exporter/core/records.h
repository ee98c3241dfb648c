#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_RECORDS_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_RECORDS_H_

#include <cstdint>
#include <string>

#include "common/dataset/fim.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/exporter/core/dataset_index.h"
#include "services/exporter/core/json.h"

namespace kernelmill::exporter {

// As records spell them: "triton", "device".
std::string DslWord(v1::Dsl dsl);
std::string RoleWord(v1::KernelRole role);

// What every record of a kernel begins with: which it is and where it stands.
Json Provenance(const DatasetIndex& index, uint32_t number);

// A line of kernels.jsonl: a kept kernel with all that is known of it. Field docs are in
// kernel.proto. `inductor` is absent of what TorchInductor did not generate;
// `autotune`, `heuristics` and `launcher` are null where there are none.
Json KernelRecord(const DatasetIndex& index, uint32_t number, const v1::Kernel& kernel,
                  const v1::Verdict& verdict);

// A licence with its evidence, as records have it.
Json LicenseJson(const v1::License& license);

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

// Parts of a record that a verdict gives: each check by name; each with its outcome and why;
// measures.
Json ChecksJson(const v1::Checks& checks);
Json RulesJson(const v1::Verdict& verdict);
Json QualityJson(const v1::Quality& quality, const v1::QualityPolicy& policy);
Json TokensJson(const v1::TokenCounts& counts);

// The stages that made the dataset: name to version.
Json StagesJson(const v1::DatasetManifest& manifest);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_RECORDS_H_
