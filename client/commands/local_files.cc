// Files of this machine for `extract` and `validate`. A path is kept twice: as the user wrote it,
// for messages, and absolute, for the services, which compare paths.

#include "client/commands/local_files.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/source_files/source_files.h"

namespace kernelmill::client {
namespace {

namespace fs = std::filesystem;

// Resolves "." and "..", but no links.
absl::StatusOr<LocalFile> Local(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) return ErrnoStatus(error.value(), path.string());
  return LocalFile{path.string(), absolute.lexically_normal().relative_path().string()};
}

absl::Status AddDirectory(const fs::path& dir, std::vector<LocalFile>* files) {
  std::error_code error;
  std::vector<fs::path> found;
  fs::recursive_directory_iterator entry(dir, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    const bool hidden = absl::StartsWith(path.filename().string(), ".");
    const fs::file_status status = entry->symlink_status(error);
    if (error) break;
    // Folders such as .git and .venv have no sources of the user. Links are not followed: they may
    // form a circle.
    if (hidden && fs::is_directory(status)) entry.disable_recursion_pending();
    if (!hidden && fs::is_regular_file(status) && path.extension() == ".py") found.push_back(path);
  }
  if (error) return ErrnoStatus(error.value(), dir.string());
  // The order of a folder's entries depends on the file system.
  std::sort(found.begin(), found.end());
  for (const fs::path& path : found) {
    ASSIGN_OR_RETURN(LocalFile file, Local(path));
    files->push_back(std::move(file));
  }
  return absl::OkStatus();
}

}  // namespace

// A file that the user names is taken whatever its name is; only folders are searched for *.py.
absl::StatusOr<std::vector<LocalFile>> FindPythonFiles(const std::vector<std::string>& paths) {
  std::vector<LocalFile> all;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (error) return ErrnoStatus(error.value(), path);
    if (fs::is_directory(status)) {
      RETURN_IF_ERROR(AddDirectory(path, &all));
    } else {
      ASSIGN_OR_RETURN(LocalFile file, Local(path));
      all.push_back(std::move(file));
    }
  }
  // A file may be named itself and lie in a named folder: the first one counts.
  std::set<std::string> seen;
  std::vector<LocalFile> files;
  for (LocalFile& file : all) {
    if (seen.insert(file.absolute).second) files.push_back(std::move(file));
  }
  return files;
}

std::vector<LocalFile> FindLicenseFiles(const std::vector<LocalFile>& files) {
  std::set<fs::path> folders;
  for (const LocalFile& file : files) {
    fs::path folder = fs::path("/" + file.absolute).parent_path();
    // Add the folders from the file up to the root. If a folder is known, its parents are known
    // too.
    while (folders.insert(folder).second && folder.has_relative_path()) {
      folder = folder.parent_path();
    }
  }
  std::error_code unknown;  // without a current folder all paths stay absolute
  const fs::path here = fs::current_path(unknown);
  std::vector<LocalFile> licenses;
  for (const fs::path& folder : folders) {
    // A folder that cannot be read gives no licence as evidence; it is skipped.
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      std::error_code unreadable;
      const std::string path = entry->path().string();
      if (source_files::GetKind(path) == source_files::Kind::kOther) continue;
      if (!entry->is_regular_file(unreadable)) continue;
      const fs::path below = entry->path().lexically_relative(here);
      const bool is_below = !below.empty() && *below.begin() != "..";
      licenses.push_back(
          {is_below ? below.string() : path, entry->path().relative_path().string()});
    }
  }
  std::sort(licenses.begin(), licenses.end(),
            [](const LocalFile& a, const LocalFile& b) { return a.absolute < b.absolute; });
  return licenses;
}

}  // namespace kernelmill::client
