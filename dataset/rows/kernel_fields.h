#ifndef KERNELMILL_DATASET_ROWS_KERNEL_FIELDS_H_
#define KERNELMILL_DATASET_ROWS_KERNEL_FIELDS_H_

#include <string>

#include "dataset/rows/field.h"

// The fields that rows about kernels share.

namespace kernelmill::dataset {

enum class Rows : bool { kKernels, kKernelsAndFiles };

// What every row about a kernel begins with.
Fields IdentityFields(Rows rows = Rows::kKernels);

// The side of the dataset that it is on.
Field SplitField();

// Its texts, with what of them is not UTF-8 in NotUtf8; and what was read of them.
Fields TextFields();
Fields DerivedFields();
Field TokensField(std::string name, std::string description);
Field NotUtf8();

// What was found of it.
Field LicenseField();
Field ChecksField();
Field QualityField();
Field CompileField();
Fields ContaminationFields();

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ROWS_KERNEL_FIELDS_H_
