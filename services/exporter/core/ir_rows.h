#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_IR_ROWS_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_IR_ROWS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "common/dataset/walk.h"
#include "services/exporter/core/dataset_index.h"

namespace kernelmill::exporter {

// Lines of ir.jsonl by the numbers of their kernels.
using IrRows = std::map<uint32_t, std::string>;

// The lines of ir.jsonl of a shard's kept kernels: the texts that compilers made of each, as the
// results are, redacted as the kernel is. Holds one blob of texts at a time beside them.
// Thread-safe.
//
// DATA_LOSS: a text is not the one that the kernel's evidence speaks of, or one that it speaks of
// and the job keeps is not there; else those of the store.
absl::StatusOr<IrRows> RenderIr(cas::BlobStore& store, const DatasetIndex& index,
                                const dataset::ShardView& view);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_IR_ROWS_H_
