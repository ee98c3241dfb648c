#ifndef KERNELMILL_DATASET_EXPORT_HISTORY_WRITER_H_
#define KERNELMILL_DATASET_EXPORT_HISTORY_WRITER_H_

#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "dataset/export/dataset_index.h"
#include "dataset/export/reference_guard.h"
#include "dataset/output/json.h"
#include "dataset/parquet/tables.h"

namespace kernelmill::dataset {

// Writes history.jsonl, and returns what the report says of it; null if no source has a history.
//
// A version of a kernel may get out where a kernel may. So a change is withheld, and counted by its
// reason, if its kernel at the pinned commit is rejected ("rejected") or contaminated
// ("contaminated"); if an entry of the opt-out names a version ("opt_out"); if a version is like a
// holdout's text or has opted-out text ("holdout"); if it has a secret that the policy rejects
// ("secret"); if the kernel is gone and the source's kernels have more than one licence, or one
// that is not known ("license"); and if the licence rests on a file of the tree that was missing or
// another one at the commit ("license_files"). Errors are those of the store and the tables.
absl::StatusOr<Json> WriteHistory(cas::BlobStore& store, const DatasetIndex& index,
                                  const ReferenceGuard& guard, TableWriter* tables);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_HISTORY_WRITER_H_
