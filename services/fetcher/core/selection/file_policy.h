#ifndef KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_FILE_POLICY_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_FILE_POLICY_H_

#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// The reason of a file without a marker of any kernel language (dsl::HasMarker).
inline constexpr absl::string_view kNoKernelMarker = "no_kernel_marker";

// Returns why a file's content need not be extracted for its own sake, as a short stable word;
// empty if it must be: kNoKernelMarker, or "lfs_pointer" if Git LFS keeps the content elsewhere.
absl::string_view ContentSkipReason(absl::string_view content);

// Returns whether some file system could take the path for something else than a file below the
// root: absolute, with an empty, '.' or '..' part, a NUL, a part that is '.git' in any disguise
// (case, 'git~1', trailing dots and blanks, a stream suffix), or code points that file systems
// ignore. Such files are skipped as "unsafe_path". All other paths, UTF-8 or not, are kept byte for
// byte.
bool IsUnsafePath(absl::string_view path);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_FILE_POLICY_H_
