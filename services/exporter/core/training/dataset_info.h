#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_TRAINING_DATASET_INFO_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_TRAINING_DATASET_INFO_H_

#include "services/exporter/core/output/json.h"

namespace kernelmill::exporter {

// dataset_info.json, by which LLaMA-Factory reads instruct.jsonl (as `kernelmill_instruct`),
// fim.jsonl
// (`kernelmill_complete`: prompt and completion) and kernels.jsonl (`kernelmill_kernels`: modules
// to go on training with).
Json DatasetInfo();

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_TRAINING_DATASET_INFO_H_
