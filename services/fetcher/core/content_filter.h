#ifndef KERNELMILL_SERVICES_FETCHER_CORE_CONTENT_FILTER_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_CONTENT_FILTER_H_

#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// Why a file's content needs no extraction, as a short stable word; empty if it does need it.
//   "lfs_pointer"       Git LFS keeps the content elsewhere
//   "no_kernel_marker"  nothing stands in it by which the extractor finds kernels, or functions of
//                       other DSLs to count
absl::string_view ContentSkipReason(absl::string_view content);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_CONTENT_FILTER_H_
