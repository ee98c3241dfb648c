#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_MACHINE_FACTS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_MACHINE_FACTS_H_

#include <vector>

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/import_paths.h"

namespace kernelmill::extractor {

// States by value what a library finds out of the machine that it runs on.
//
// Libraries for several kinds of hardware ask drivers, environments and programs once, and keep the
// answers in constants of modules: fp64_is_supported = lib.runtime.device.support_fp64. No module
// has the code that asks. But the names say what is asked, and references run on NVIDIA GPUs and on
// processors alone. So such a constant whose value cannot be had becomes the answer of these, with
// the value as a comment:
// clang-format off
//   runtime.device.name, .device.type, .device_name, .device_type   "cuda", or "cpu" without a GPU
//   runtime.device.vendor_name                                      "nvidia"
//   runtime.device.support_fp64, .bf16_enabled, .has_int64          True
// clang-format on
// getattr(runtime, "vendor_name", "") is the same as runtime.vendor_name. Any other constant, and
// one whose value can be had, stays as it is.
std::vector<v1::Definition> StateMachineFacts(std::vector<v1::Definition> definitions,
                                              const ImportPaths& paths);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_MACHINE_FACTS_H_
