#include "services/fetcher/core/selection/file_policy.h"

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "common/dsl/languages.h"

namespace kernelmill::fetcher {
namespace {

// Returns whether the path has a code point that HFS+ ignores when it compares names, in UTF-8:
// U+200C..200F, U+202A..202E, U+206A..206F and U+FEFF.
bool HasIgnorable(absl::string_view path) {
  for (size_t at = 0; at + 2 < path.size(); ++at) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(path[at + i]); };
    if (byte(0) == 0xef && byte(1) == 0xbb && byte(2) == 0xbf) return true;
    if (byte(0) != 0xe2) continue;
    if (byte(1) == 0x80 && byte(2) >= 0x8c && byte(2) <= 0x8f) return true;
    if (byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae) return true;
    if (byte(1) == 0x81 && byte(2) >= 0xaa && byte(2) <= 0xaf) return true;
  }
  return false;
}

// Returns a name as NTFS reads it: without a stream suffix and trailing dots and blanks.
absl::string_view Bare(absl::string_view name) {
  name = name.substr(0, name.find(':'));
  while (!name.empty() && (name.back() == '.' || name.back() == ' ')) name.remove_suffix(1);
  return name;
}

// "git~1" is the short name that Windows gives to ".git".
bool IsUnsafePart(absl::string_view part) {
  if (part.empty() || part == "." || part == "..") return true;
  const absl::string_view bare = Bare(part);
  return absl::EqualsIgnoreCase(bare, ".git") || absl::EqualsIgnoreCase(bare, "git~1");
}

// A pointer takes the place of a file that was not fetched; its text is not the file's.
bool IsLfsPointer(absl::string_view content) {
  constexpr size_t kMaxPointer = 1024;  // as the LFS specification bounds it
  return content.size() < kMaxPointer &&
         absl::StartsWith(content, "version https://git-lfs.github.com/spec/") &&
         absl::StrContains(content, "\noid ");
}

}  // namespace

// Paths are only compared and stored, never opened. They are refused because a user of the dataset
// may write its files to a disk.
bool IsUnsafePath(absl::string_view path) {
  if (path.find('\0') != absl::string_view::npos || HasIgnorable(path)) return true;
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (IsUnsafePart(part)) return true;
  }
  return false;
}

absl::string_view ContentSkipReason(absl::string_view content) {
  if (IsLfsPointer(content)) return "lfs_pointer";
  return dsl::HasMarker(content) ? "" : kNoKernelMarker;
}

}  // namespace kernelmill::fetcher
