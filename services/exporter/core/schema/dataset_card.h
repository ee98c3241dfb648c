#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_SCHEMA_DATASET_CARD_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_SCHEMA_DATASET_CARD_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::exporter {

// The README.md of an export: a dataset card as Hugging Face's `datasets` and Hub read it. Its head
// names each file's types, since readers that guess them from a file's first rows guess wrong where
// a field is null in all of these.
std::string DatasetCard(absl::string_view name, absl::string_view dataset, int64_t kernels);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_SCHEMA_DATASET_CARD_H_
