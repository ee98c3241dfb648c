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

// What an #include names: "path" or <path>.
struct IncludeName {
  std::string path;
  bool angled = false;
};

// Those on the lines of a text, in their order; at most `most`. Comments and branches are not told
// from code: what stands there may be meant as well.
std::vector<IncludeName> FindIncludeLines(absl::string_view text, size_t most);

// Which file of a source an #include means, as far as paths tell: that at the path from the
// includer's folder; else the one whose path ends so, as include paths would have it, and of
// several the one that shares the most folders with the includer, if that is one alone. Headers of
// the compiler and of the CUDA toolkit are never the source's but beside the includer.
class IncludePaths {
 public:
  // Numbers count in `paths`, of which each is there once.
  explicit IncludePaths(const std::vector<std::string>& paths);

  std::optional<uint32_t> Find(absl::string_view includer, absl::string_view path,
                               bool angled) const;

 private:
  std::optional<uint32_t> FindBySuffix(absl::string_view includer, absl::string_view path) const;

  std::vector<std::string> paths_;
  absl::flat_hash_map<std::string, uint32_t> by_path_;
  absl::flat_hash_map<std::string, std::vector<uint32_t>> by_name_;  // the last part
};

}  // namespace kernelmill::cpp

#endif  // KERNELMILL_COMMON_CPP_INCLUDE_PATHS_H_
