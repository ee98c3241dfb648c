#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_FILE_MANIFEST_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_FILE_MANIFEST_H_

#include <string>

#include "absl/status/status.h"
#include "common/cas/digest.h"
#include "services/exporter/core/dataset_index.h"
#include "services/exporter/core/organised_tree.h"
#include "services/exporter/core/output/files.h"

namespace kernelmill::exporter {

// The time of the newest commit.
std::string Created(const DatasetIndex& index);

// Writes MANIFEST.json: DatasetIndex::ListedFiles by category, with the fields of the extraction
// plan's script 07. `created` is the time of the newest commit, so that the same dataset has the
// same manifest. With a tree, which may be null, paths, sizes and hashes are those of its files,
// and what was left out of it is listed apart. Entries are rendered on the threads.
absl::Status WriteFileManifest(const DatasetIndex& index, const cas::Digest& dataset,
                               const TreeFiles* tree, int threads, FileWriter* out);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_FILE_MANIFEST_H_
