#ifndef KERNELMILL_DATASET_EXPORT_FILE_MANIFEST_H_
#define KERNELMILL_DATASET_EXPORT_FILE_MANIFEST_H_

#include <string>

#include "absl/status/status.h"
#include "common/cas/digest.h"
#include "dataset/export/dataset_index.h"
#include "dataset/export/organised_tree.h"
#include "dataset/output/files.h"

namespace kernelmill::dataset {

// The time of the newest commit.
std::string Created(const DatasetIndex& index);

// Writes MANIFEST.json: DatasetIndex::ListedFiles by category, with the fields of the extraction
// plan's script 07. `created` is the time of the newest commit, so that the same dataset has the
// same manifest. With a tree, which may be null, paths, sizes and hashes are those of its files,
// and what was left out of it is listed apart. Entries are rendered on the threads.
absl::Status WriteFileManifest(const DatasetIndex& index, const cas::Digest& dataset,
                               const TreeFiles* tree, int threads, FileWriter* out);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_FILE_MANIFEST_H_
