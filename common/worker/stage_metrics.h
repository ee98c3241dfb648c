#ifndef KERNELMILL_COMMON_WORKER_STAGE_METRICS_H_
#define KERNELMILL_COMMON_WORKER_STAGE_METRICS_H_

#include "common/worker/stage_table.h"
#include "kernelmill/v1/action.pb.h"

namespace kernelmill::worker {

// What stages count in their results (StageResult.counters), as metrics.

// Of the process that ran the stage: files and kernels by what became of them.
void CountStage(StageId stage, const v1::StageResult& result);
// Of the coordinator: files and kernels of the datasets that jobs made, by resolve and manifest,
// whether they were run or cached.
void CountDataset(StageId stage, const v1::StageResult& result);

// Makes the series of both, as far as they are known before the first event.
void PrefillStage(StageId stage);
void PrefillDataset();

}  // namespace kernelmill::worker

#endif  // KERNELMILL_COMMON_WORKER_STAGE_METRICS_H_
