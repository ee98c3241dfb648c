#ifndef KERNELMILL_DATASET_EXPORT_IR_ROWS_H_
#define KERNELMILL_DATASET_EXPORT_IR_ROWS_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "common/cas/blob_store.h"
#include "common/manifest/walk.h"
#include "dataset/export/dataset_index.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {

// Takes a row of ir.jsonl of the kernel of that number.
using IrSink = absl::FunctionRef<absl::Status(uint32_t number, const v1::IrRow& row)>;

// Makes the rows of ir.jsonl of a shard's kept kernels: the texts that compilers made of each, in
// the order of the results, redacted as the kernel is. Holds one blob of texts at a time, however
// many texts a shard has.
//
// DATA_LOSS: a text differs from the one that the kernel's evidence names, or one that it names and
// the job keeps is missing. Other errors are those of the store and of `sink`.
absl::Status MakeIrRows(cas::BlobStore& store, const DatasetIndex& index,
                        const manifest::ShardView& view, IrSink sink);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_IR_ROWS_H_
