#ifndef KERNELMILL_DATASET_EXPORT_IR_ROWS_H_
#define KERNELMILL_DATASET_EXPORT_IR_ROWS_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/cas/blob_store.h"
#include "common/manifest/walk.h"
#include "dataset/export/dataset_index.h"

namespace kernelmill::dataset {

// Takes a line of ir.jsonl of the kernel of that number.
using IrSink = absl::FunctionRef<absl::Status(uint32_t number, absl::string_view line)>;

// Hands over the lines of ir.jsonl of a shard's kept kernels: the texts that compilers made of
// each, as the results are, redacted as the kernel is. Holds one blob of texts at a time, whatever
// a shard has of them.
//
// DATA_LOSS: a text is not the one that the kernel's evidence speaks of, or one that it speaks of
// and the job keeps is not there; else those of the store and of `sink`.
absl::Status RenderIr(cas::BlobStore& store, const DatasetIndex& index,
                      const manifest::ShardView& view, IrSink sink);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_IR_ROWS_H_
