#ifndef KERNELMILL_DATASET_EXPORT_KERNEL_JSON_H_
#define KERNELMILL_DATASET_EXPORT_KERNEL_JSON_H_

#include "dataset/output/row_writer.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// Writes the fields of a row that a kernel gives by itself: its texts, what they are made of, and
// all that is derived from them.
void WriteTexts(const v1::Kernel& kernel, RowWriter& row);
void WriteDerivedFields(const v1::Kernel& kernel, RowWriter& row);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_KERNEL_JSON_H_
