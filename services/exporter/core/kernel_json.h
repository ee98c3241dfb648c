#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_KERNEL_JSON_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_KERNEL_JSON_H_

#include "kernelmill/v1/kernel.pb.h"
#include "services/exporter/core/output/json.h"

namespace kernelmill::exporter {

// Sets the fields of a row that a kernel gives by itself: its texts, what they are made of, and all
// that is derived from them.
void SetTexts(const v1::Kernel& kernel, Json& row);
void SetDerivedFields(const v1::Kernel& kernel, Json& row);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_KERNEL_JSON_H_
