#include "services/fetcher/core/local_folders.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/base/text.h"

namespace kernelmill::fetcher {
namespace {

namespace fs = std::filesystem;

bool IsWithin(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

// Absolute, links followed, without "." and "..", and without a slash at its end.
fs::path Resolved(const std::string& path, std::error_code& error) {
  fs::path resolved = fs::weakly_canonical(fs::absolute(path, error), error);
  return resolved.has_filename() || resolved == resolved.root_path() ? resolved
                                                                     : resolved.parent_path();
}

}  // namespace

absl::Status LocalFolders::Check(absl::string_view path) const {
  if (folders_.empty()) {
    return absl::PermissionDeniedError(absl::StrCat(
        JsonString(path), ": local sources are not allowed here (the fetcher's --allow-local)"));
  }
  std::error_code error;
  const fs::path resolved = Resolved(std::string(path), error);
  const bool allowed =
      !error && std::any_of(folders_.begin(), folders_.end(), [&](const std::string& folder) {
        std::error_code ignored;
        return IsWithin(resolved, Resolved(folder, ignored));
      });
  if (allowed) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat(JsonString(path),
                   ": is in none of the folders that sources may lie in here (the "
                   "fetcher's --allow-local)"));
}

}  // namespace kernelmill::fetcher
