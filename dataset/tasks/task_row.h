#ifndef KERNELMILL_DATASET_TASKS_TASK_ROW_H_
#define KERNELMILL_DATASET_TASKS_TASK_ROW_H_

#include "dataset/tasks/evidence_index.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {

// Says whether the kernel has a case that replays, so that it is a task.
bool IsTask(const KernelEvidence& evidence);

// Fills what evidence says of a kernel: `cases`, `hidden_cases`, `cases_total`, `fixed`,
// `tolerances`, `adequacy`, `outcomes`, `speed`, `verified`, `not_verified`, `verified_by`, and
// then `text`, from these and the row's reference. `kernel` has its texts as they may be seen. The
// same evidence gives the same bytes. Thread-safe.
void FillEvidence(const KernelEvidence& evidence, const v1::Kernel& kernel, double min_adequacy,
                  v1::TaskRow* row);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TASKS_TASK_ROW_H_
