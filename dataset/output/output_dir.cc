#include "dataset/output/output_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "dataset/output/dataset_files.h"
#include "dataset/output/json.h"

// An export replaces a folder as a whole. Two dangers are kept in mind. The folder may be something
// else, such as a home folder: it is replaced only if it is empty, or has only entries that an
// export has and a report that kernelmill wrote. And the export may be killed at any time: it is
// written to .NAME.partial beside the output, synced, and renamed in one step.
//
// The lock on the staging folder is flock's, so it ends with the process; what a killed export left
// is removed by the next one.
namespace kernelmill::dataset {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxReportBytes = 64 << 20;

absl::Status ErrorStatus(const std::error_code& error, const fs::path& path) {
  return ErrnoStatus(error.value(), path.string());
}

// Absolute, without a trailing slash, symbolic links followed where it exists.
absl::StatusOr<fs::path> Resolve(const std::string& out_dir) {
  if (out_dir.empty()) return absl::InvalidArgumentError("no output directory is given");
  std::error_code error;
  // Absolute first: of a relative path that is not there the canonical form is relative too.
  fs::path path = fs::absolute(out_dir, error);
  if (!error) path = fs::weakly_canonical(path, error);
  if (error) return ErrorStatus(error, out_dir);
  if (!path.has_filename()) path = path.parent_path();
  if (!path.has_filename()) {
    return absl::InvalidArgumentError(absl::StrCat(out_dir, ": cannot be replaced"));
  }
  return path;
}

// Says whether the file is a report that kernelmill wrote; false if it cannot be read.
bool IsOurReport(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxReportBytes);
  if (!text.ok()) return false;
  const Json report = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return report.is_object() && report.contains("generator") && report["generator"] == "kernelmill";
}

absl::Status Foreign(const OutputLayout& layout, const fs::path& dir, const fs::path& path) {
  return absl::FailedPreconditionError(absl::StrCat(
      dir.string(), ": holds ", path.lexically_relative(dir).string(), ", ", layout.foreign));
}

// Checks a folder of the layout: it may have only regular files with its ending, in folders.
absl::Status CheckFolder(const OutputLayout& layout, const fs::path& dir,
                         const OutputFolder& folder) {
  std::error_code error;
  fs::recursive_directory_iterator entry(dir / folder.name, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::file_type type = entry->symlink_status(error).type();
    if (error) break;
    if (type == fs::file_type::directory) continue;
    // An empty ending allows any name.
    const bool ends_so = *folder.ending == '\0' || entry->path().extension() == folder.ending;
    if (type != fs::file_type::regular || !ends_so) {
      return Foreign(layout, dir, entry->path());
    }
  }
  return error ? ErrorStatus(error, dir / folder.name) : absl::OkStatus();
}

// Checks that the layout has this entry.
absl::Status CheckEntry(const OutputLayout& layout, const fs::path& dir,
                        const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  std::error_code error;
  const fs::file_type type = entry.symlink_status(error).type();
  if (error) return ErrorStatus(error, entry.path());
  const auto* const folder =
      std::find_if(layout.folders.begin(), layout.folders.end(),
                   [&name](const OutputFolder& each) { return name == each.name; });
  if (folder != layout.folders.end() && type == fs::file_type::directory) {
    return CheckFolder(layout, dir, *folder);
  }
  if (std::find(layout.files.begin(), layout.files.end(), name) != layout.files.end()) {
    return absl::OkStatus();
  }
  return Foreign(layout, dir, entry.path());
}

// A folder that does not exist is fine. FAILED_PRECONDITION: it is not ours to replace.
absl::Status CheckResolved(const OutputLayout& layout, const fs::path& dir) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(dir, error);
  if (status.type() == fs::file_type::not_found) return absl::OkStatus();
  if (error) return ErrorStatus(error, dir);
  if (status.type() != fs::file_type::directory) {
    return absl::FailedPreconditionError(absl::StrCat(dir.string(), ": is not a directory"));
  }
  bool empty = true;
  fs::directory_iterator entry(dir, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    empty = false;
    RETURN_IF_ERROR(CheckEntry(layout, dir, *entry));
  }
  if (error) return ErrorStatus(error, dir);
  if (!empty && !layout.is_ours((dir / layout.mark).string())) {
    return absl::FailedPreconditionError(absl::StrCat(dir.string(), ": ", layout.other));
  }
  return absl::OkStatus();
}

// Checks that a folder can be made beside `dir`, or in the nearest existing folder above it.
absl::Status CheckWritable(const fs::path& dir) {
  fs::path folder = dir.parent_path();
  std::error_code error;
  while (folder.has_relative_path() && !fs::exists(folder, error)) folder = folder.parent_path();
  std::string probe = (folder / ".kernelmill-XXXXXX").string();
  if (::mkdtemp(probe.data()) == nullptr) {
    return ErrnoStatus(errno, absl::StrCat(folder.string(), ": nothing can be written here"));
  }
  if (::rmdir(probe.c_str()) != 0) return ErrnoStatus(errno, probe);
  return absl::OkStatus();
}

// A rename is on the disk only once the folder that has the name is synced.
absl::Status SyncDir(const fs::path& dir) {
  const FileDescriptor folder(::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return ErrnoStatus(errno, dir.string());
  if (::fsync(folder.get()) != 0) return ErrnoStatus(errno, dir.string());
  return absl::OkStatus();
}

// Says whether the path still names the open folder. Another export may have renamed or removed it
// between open and flock, and the lock would be on a folder that is in use elsewhere.
bool IsAt(const FileDescriptor& folder, const std::string& path) {
  struct stat held, named;
  return ::fstat(folder.get(), &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

// Makes the directory, or takes one that is there, and locks it; none if it was moved away
// meanwhile.
absl::StatusOr<FileDescriptor> MakeAndLock(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) return ErrnoStatus(errno, path);
  FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  // ENOENT: another export has just renamed the folder to its output.
  if (!folder.is_open() && errno != ENOENT) return ErrnoStatus(errno, path);
  if (!folder.is_open()) return folder;
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return ErrnoStatus(errno, path);
    return absl::FailedPreconditionError(absl::StrCat(path, ": another export is writing here"));
  }
  return IsAt(folder, path) ? std::move(folder) : FileDescriptor();
}

// Removes what a killed export left. The folder itself stays, since it is locked.
absl::Status RemoveContent(const fs::path& dir) {
  std::error_code error;
  fs::directory_iterator entry(dir, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    fs::remove_all(entry->path(), error);
    if (error) break;
  }
  return error ? ErrorStatus(error, dir) : absl::OkStatus();
}

}  // namespace

// Made from the table of files, so that a new file needs no line here.
const OutputLayout& ExportLayout() {
  static const OutputLayout& layout = *[] {
    auto* files = new std::vector<const char*>;
    auto* folders = new std::vector<OutputFolder>;
    for (const DatasetFile& file : DatasetFiles()) {
      if (file.folder_ending == nullptr) {
        files->push_back(file.name);
      } else {
        folders->push_back({file.name, file.folder_ending});
      }
    }
    return new OutputLayout{*files,
                            *folders,
                            kReportFile,
                            IsOurReport,
                            "which is not of an export",
                            "is not empty and not an earlier export"};
  }();
  return layout;
}

// For an early error, before the work. The folder may change until the export; StagingDir checks
// again.
absl::Status CheckOutputDir(const std::string& out_dir) {
  ASSIGN_OR_RETURN(const fs::path path, Resolve(out_dir));
  RETURN_IF_ERROR(CheckResolved(ExportLayout(), path));
  return CheckWritable(path);
}

// Each failed attempt means that another export finished with the folder just now.
absl::StatusOr<StagingDir> StagingDir::Create(const std::string& out_dir,
                                              const OutputLayout& layout) {
  ASSIGN_OR_RETURN(const fs::path out, Resolve(out_dir));
  RETURN_IF_ERROR(CheckResolved(layout, out));
  std::error_code error;
  fs::create_directories(out.parent_path(), error);
  if (error) return ErrorStatus(error, out.parent_path());
  const std::string path =
      (out.parent_path() / absl::StrCat(".", out.filename().string(), ".partial")).string();
  for (int attempt = 0; attempt < 8; ++attempt) {
    ASSIGN_OR_RETURN(FileDescriptor folder, MakeAndLock(path));
    if (!folder.is_open()) continue;
    StagingDir staging(layout, out.string(), path, std::move(folder));
    RETURN_IF_ERROR(RemoveContent(path));
    return staging;
  }
  return absl::AbortedError(absl::StrCat(path, ": other exports keep taking it"));
}

StagingDir::~StagingDir() {
  if (!folder_.is_open()) return;
  // Nothing can be done here about a failure; the next export removes what is left.
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

// After an error before the rename the output is what it was, and the destructor removes the new
// export.
absl::Status StagingDir::Commit() {
  // All files and folders at once: a sync of each would wait for the disk each time.
  if (::syncfs(folder_.get()) != 0) return ErrnoStatus(errno, path_);
  // The folder in the way may have changed since Create.
  RETURN_IF_ERROR(CheckResolved(*layout_, out_dir_));
  RETURN_IF_ERROR(Replace());
  return SyncDir(fs::path(out_dir_).parent_path());
}

// Three ways, from the best on: rename onto nothing or an empty folder; exchange of the two names;
// on file systems without exchange two renames, between which the output is missing for a moment.
// If the second of these fails, the first is undone.
absl::Status StagingDir::Replace() {
  // Renaming onto nothing or onto an empty directory is one step everywhere.
  if (::rename(path_.c_str(), out_dir_.c_str()) == 0) {
    folder_.Close();
    return absl::OkStatus();
  }
  if (errno != ENOTEMPTY && errno != EEXIST) return ErrnoStatus(errno, out_dir_);
  // The earlier export is now under our name and goes with this object.
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, out_dir_.c_str(), RENAME_EXCHANGE) == 0) {
    return absl::OkStatus();
  }
  if (errno != EINVAL && errno != ENOSYS) return ErrnoStatus(errno, out_dir_);
  const std::string old = path_ + ".old";
  std::error_code error;
  fs::remove_all(old, error);
  if (error) return ErrorStatus(error, old);
  if (::rename(out_dir_.c_str(), old.c_str()) != 0) return ErrnoStatus(errno, out_dir_);
  if (::rename(path_.c_str(), out_dir_.c_str()) != 0) {
    const int reason = errno;
    if (::rename(old.c_str(), out_dir_.c_str()) != 0) return ErrnoStatus(errno, old);
    return ErrnoStatus(reason, out_dir_);
  }
  folder_.Close();
  fs::remove_all(old, error);
  return error ? ErrorStatus(error, old) : absl::OkStatus();
}

}  // namespace kernelmill::dataset
