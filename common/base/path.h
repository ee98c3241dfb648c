#ifndef KERNELMILL_COMMON_BASE_PATH_H_
#define KERNELMILL_COMMON_BASE_PATH_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace kernelmill {

// Returns the last component of a path: "c" for "a/b/c"; the whole path if it has no slash.
inline absl::string_view BaseName(absl::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// Returns the part before the last slash: "a/b" for "a/b/c"; empty if the path has no slash.
inline absl::string_view ParentFolder(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? absl::string_view() : path.substr(0, slash);
}

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_PATH_H_
