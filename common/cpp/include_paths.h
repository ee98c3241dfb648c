#ifndef KERNELMILL_COMMON_CPP_INCLUDE_PATHS_H_
#define KERNELMILL_COMMON_CPP_INCLUDE_PATHS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace kernelmill::cpp {

// Returns whether a path has an extension of C++, CUDA, HIP or Metal.
bool IsCppPath(absl::string_view path);

// Returns whether a path has the extension of a header.
bool IsHeaderPath(absl::string_view path);

// Returns whether a header, as an #include names it, comes with the compiler, the standard library,
// the CUDA toolkit, HIP or Metal. CUB, Thrust and CUTLASS count as ordinary packages.
bool IsKnownHeader(absl::string_view path);

// Returns the one name for all spellings of a known header: "cstdint" for stdint.h and cstdint.
std::string CanonicalHeader(absl::string_view path);

// Returns whether the header is of Metal's standard library: metal_stdlib, metal_simdgroup.
bool IsMetalHeader(absl::string_view path);

// Returns whether the header is HIP's.
bool IsHipHeader(absl::string_view path);

// Returns whether including the known header makes a file CUDA or HIP, whatever the file uses of
// it.
bool IsRuntimeHeader(absl::string_view path);

// The name in an #include: "path" or <path>.
struct IncludeName {
  std::string path;
  bool angled = false;
};

// Returns the names on the #include lines of a text, in order, at most `most`. Comments and
// branches of the preprocessor are not told from code, since an #include in them may be meant as
// well.
std::vector<IncludeName> FindIncludeLines(absl::string_view text, size_t most);

// The files of a source by their paths, to find the one that an #include means. Immutable.
class IncludePaths {
 public:
  // `paths` has each path once. Results are indexes into it.
  explicit IncludePaths(const std::vector<std::string>& paths);

  // Returns the file at the path relative to the includer's folder; else the file whose path ends
  // with the name, as include paths would find it. If several do, the one that shares most folders
  // with the includer, unless two share as many. A header of the compiler or the CUDA toolkit is
  // the source's only if it is beside the includer.
  std::optional<uint32_t> Find(absl::string_view includer, absl::string_view path,
                               bool angled) const;

 private:
  std::optional<uint32_t> FindBySuffix(absl::string_view includer, absl::string_view path) const;

  std::vector<std::string> paths_;
  absl::flat_hash_map<std::string, uint32_t> by_path_;
  absl::flat_hash_map<std::string, std::vector<uint32_t>> by_name_;  // by the last part of the path
};

}  // namespace kernelmill::cpp

#endif  // KERNELMILL_COMMON_CPP_INCLUDE_PATHS_H_
