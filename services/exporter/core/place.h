#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_PLACE_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_PLACE_H_

#include <cstdint>

#include "services/exporter/core/dataset_index.h"
#include "services/exporter/core/json.h"

namespace kernelmill::exporter {

// Sets which file of its source a kernel stands in, and of a JSON file in which string: `path` and
// `json_pointer`. The latter is absent elsewhere.
void SetPlace(Json& json, const DatasetIndex& index, uint32_t number);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_PLACE_H_
