#include "services/fetcher/core/content_filter.h"

#include <string.h>

#include <cstddef>
#include <string_view>

#include "absl/strings/match.h"

namespace kernelmill::fetcher {
namespace {

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
  for (const std::string_view marker : {"triton", "gluon", "__global__", "__device__"}) {
    if (Contains(content, marker)) return "";
  }
  return "no_kernel_marker";
}

}  // namespace kernelmill::fetcher
