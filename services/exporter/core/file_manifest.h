#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_FILE_MANIFEST_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_FILE_MANIFEST_H_

#include "common/cas/digest.h"
#include "services/exporter/core/dataset_index.h"
#include "services/exporter/core/json.h"

namespace kernelmill::exporter {

// MANIFEST.json: the source files that hold a kept kernel, by category, with the fields of the
// extraction plan's script 07. `created` is the time of the newest commit, so that the same dataset
// has the same manifest.
Json FileManifest(const DatasetIndex& index, const cas::Digest& dataset);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_FILE_MANIFEST_H_
