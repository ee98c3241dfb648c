#ifndef KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_MAY_HOLD_KERNEL_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_MAY_HOLD_KERNEL_H_

#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// Says whether a text may hold a kernel, by words without which none can be made: fewer files than
// the selection's markers, which host code has as well. A history reads each file many times.
bool MayHoldKernel(absl::string_view content);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_HISTORY_MAY_HOLD_KERNEL_H_
