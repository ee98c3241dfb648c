#ifndef KERNELMILL_DATASET_TASKS_FIXED_VALUES_H_
#define KERNELMILL_DATASET_TASKS_FIXED_VALUES_H_

#include <string>

#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {

// Fills `fixed`: what all cases of the row, shown and hidden, have in common, and options with few
// values. The cases do not tell a kernel that ignores such a parameter, or its other values, from
// one that does not, so that the task must say it.
void FillFixed(v1::TaskRow* row);

// Returns what the text of the task says of these; empty if nothing is fixed.
std::string FixedText(const v1::TaskRow& row);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TASKS_FIXED_VALUES_H_
