#ifndef KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_FILE_POLICY_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_FILE_POLICY_H_

#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// Nothing stands in it by which the extractor finds kernels, or functions of other DSLs to count.
inline constexpr absl::string_view kNoKernelMarker = "no_kernel_marker";

// Why a file's content needs no extraction for its own sake, as a short stable word; empty if it
// does need it: kNoKernelMarker, or "lfs_pointer" where Git LFS keeps the content elsewhere.
absl::string_view ContentSkipReason(absl::string_view content);

// Whether a path could mean something else than a file below the root to some file system:
// absolute, with an empty, '.' or '..' part, a NUL, a part that is '.git' in any disguise (case,
// 'git~1', trailing dots and blanks, a stream suffix), or code points that file systems ignore.
// Such files are skipped as "unsafe_path". Other paths, UTF-8 or not, are taken as the bytes that
// they are.
bool IsUnsafePath(absl::string_view path);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_FILE_POLICY_H_
