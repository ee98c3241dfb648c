#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_KERNEL_JSON_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_KERNEL_JSON_H_

#include "kernelmill/v1/kernel.pb.h"
#include "services/exporter/core/output/row_writer.h"

namespace kernelmill::exporter {

// Writes the fields of a row that a kernel gives by itself: its texts, what they are made of, and
// all that is derived from them.
void WriteTexts(const v1::Kernel& kernel, RowWriter& row);
void WriteDerivedFields(const v1::Kernel& kernel, RowWriter& row);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_KERNEL_JSON_H_
