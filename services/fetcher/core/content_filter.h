#ifndef KERNELMILL_SERVICES_FETCHER_CORE_CONTENT_FILTER_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_CONTENT_FILTER_H_

#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// Nothing stands in it by which the extractor finds kernels, or functions of other DSLs to count.
inline constexpr absl::string_view kNoKernelMarker = "no_kernel_marker";

// Why a file's content needs no extraction for its own sake, as a short stable word; empty if it
// does need it: kNoKernelMarker, or "lfs_pointer" where Git LFS keeps the content elsewhere.
absl::string_view ContentSkipReason(absl::string_view content);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_CONTENT_FILTER_H_
