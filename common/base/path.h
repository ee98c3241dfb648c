#ifndef KERNELMILL_COMMON_BASE_PATH_H_
#define KERNELMILL_COMMON_BASE_PATH_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace kernelmill {

// The last component of a path with slashes: "c" of "a/b/c", all of a path without one.
inline absl::string_view BaseName(absl::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// What stands before the last slash: "a/b" of "a/b/c", nothing of a path without one.
inline absl::string_view FolderOf(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? absl::string_view() : path.substr(0, slash);
}

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_PATH_H_
