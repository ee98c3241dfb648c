#include "common/base/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace kernelmill {
namespace {

// Lowers the limit to the number in the file, if it has one: without a limit it says "max".
void LowerTo(const std::string& path, int64_t* limit) {
  std::ifstream file(path);
  std::string line;
  int64_t bytes = 0;
  if (std::getline(file, line) && absl::SimpleAtoi(line, &bytes) && bytes > 0) {
    *limit = std::min(*limit, bytes);
  }
}

}  // namespace

// A group is bounded by those above it as well. In a container the group's path may be that of the
// machine while its own group is mounted as the root, which is therefore read in any case.
int64_t MemoryLimit() {
  int64_t limit = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // HIERARCHY:CONTROLLERS:PATH; version 2 has no controllers.
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const bool second = parts[1].empty();
    if (!second && !absl::StrContains(absl::StrCat(",", parts[1], ","), ",memory,")) continue;
    const std::string root = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const std::string file = second ? "/memory.max" : "/memory.limit_in_bytes";
    std::string path = parts[2] == "/" ? "" : parts[2];
    while (!path.empty()) {
      LowerTo(absl::StrCat(root, path, file), &limit);
      path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
    LowerTo(root + file, &limit);
  }
  return limit;
}

}  // namespace kernelmill
