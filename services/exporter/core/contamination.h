#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_CONTAMINATION_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_CONTAMINATION_H_

#include <cstdint>

#include "services/exporter/core/dataset_index.h"
#include "services/exporter/core/json.h"

namespace kernelmill::exporter {

// The holdouts' kernels that a candidate matches, the gravest first: which and where each is, the
// rule, the score and whether the policy's limit is reached.
Json ContaminationJson(const DatasetIndex& index, uint32_t number);

// What the report says of them: how many candidates that were not rejected are of each item, by
// rule; a candidate counts with its gravest match, where the policy's limit is reached. And how
// many of these were kept, labelled.
Json ContaminationReport(const DatasetIndex& index);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_CONTAMINATION_H_
