#ifndef KERNELMILL_SERVICES_FETCHER_CORE_PATH_POLICY_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_PATH_POLICY_H_

#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// Whether a path could mean something else than a file below the root to some file system:
// absolute, with an empty, '.' or '..' part, a NUL, a part that is '.git' in any disguise (case,
// 'git~1', trailing dots and blanks, a stream suffix), or code points that file systems ignore.
// Such files are skipped as "unsafe_path". Other paths, UTF-8 or not, are taken as the bytes that
// they are.
bool IsUnsafePath(absl::string_view path);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_PATH_POLICY_H_
