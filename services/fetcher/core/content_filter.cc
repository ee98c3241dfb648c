#include "services/fetcher/core/content_filter.h"

#include <string.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "absl/strings/match.h"

namespace kernelmill::fetcher {
namespace {

// Without one of these words no name in a file can resolve to a DSL's, and it is no template.
constexpr std::string_view kMarkers[] = {
    "triton",     "gluon",        "pallas", "TritonTemplate", "def_kernel", "cutlass",   "cute.",
    "cuda.tile",  "flydsl",       "flyc",   "helion",         "tilelang",   "prim_func", "nki.jit",
    "numba.cuda", "import numba", "taichi", "import warp",    "__global__", "__device__"};

bool IsLfsPointer(absl::string_view content) {
  constexpr size_t kMaxPointer = 1024;  // as the LFS specification bounds it
  return content.size() < kMaxPointer &&
         absl::StartsWith(content, "version https://git-lfs.github.com/spec/") &&
         absl::StrContains(content, "\noid ");
}

// memmem is vectorized in the C library: this runs at memory speed, which absl's search does not.
bool Contains(absl::string_view content, std::string_view word) {
  return ::memmem(content.data(), content.size(), word.data(), word.size()) != nullptr;
}

}  // namespace

absl::string_view ContentSkipReason(absl::string_view content) {
  if (IsLfsPointer(content)) return "lfs_pointer";
  const bool marked = std::any_of(std::begin(kMarkers), std::end(kMarkers),
                                  [&](std::string_view word) { return Contains(content, word); });
  return marked ? "" : kNoKernelMarker;
}

}  // namespace kernelmill::fetcher
