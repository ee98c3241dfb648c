#ifndef KERNELMILL_DATASET_TRAINING_DATASET_INFO_H_
#define KERNELMILL_DATASET_TRAINING_DATASET_INFO_H_

#include "dataset/output/json.h"

namespace kernelmill::dataset {

// Makes dataset_info.json, with which LLaMA-Factory reads instruct.jsonl (as
// `kernelmill_instruct`), fim.jsonl (`kernelmill_complete`: prompt and completion) and
// kernels.jsonl (`kernelmill_kernels`: modules for continued pre-training).
Json DatasetInfo();

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TRAINING_DATASET_INFO_H_
