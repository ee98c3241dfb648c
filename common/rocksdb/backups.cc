#include "common/rocksdb/backups.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/rocksdb/backup.h"

namespace kernelmill {
namespace {

namespace fs = std::filesystem;

// The name becomes the name of a folder. A name with a leading dot is one of an unfinished backup
// (".NAME.new").
absl::Status CheckName(absl::string_view name) {
  bool plain = !name.empty() && name.size() <= 100 && name.front() != '.';
  for (const char c : name) {
    plain = plain && (absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-');
  }
  if (plain) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "name: must be 1 to 100 letters, digits, '.', '_' or '-', and must not begin with '.'");
}

}  // namespace

absl::Status Backups::CheckFolder() const {
  if (!options_.dir.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the server has no folder for backups; start it with --backups DIRECTORY");
}

// Writes a backup. A known name is brought up to date, which copies only files that are new.
// making_ lets one backup or prune run at a time.
absl::StatusOr<Backups::Made> Backups::Make(const std::string& name) {
  RETURN_IF_ERROR(CheckName(name));
  RETURN_IF_ERROR(CheckFolder());
  absl::MutexLock lock(&making_);
  const std::string path = GetPath(name);
  std::error_code error;
  const bool known = fs::exists(path, error);
  if (error) return ErrnoStatus(error.value(), path);
  ASSIGN_OR_RETURN(const int64_t bytes, known ? write_(path) : MakeNew(name));
  return Made{.path = path, .bytes = bytes};
}

// Writes into a hidden folder and renames it when it is complete, so that every listed name of a
// new backup is whole. RESOURCE_EXHAUSTED: the number of backups is at its limit.
absl::StatusOr<int64_t> Backups::MakeNew(const std::string& name) {
  ASSIGN_OR_RETURN(const std::vector<BackupEntry> there, List());
  if (static_cast<int>(there.size()) >= options_.max_backups) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there are ", there.size(), " backups, the limit is ", options_.max_backups,
                     " (--max-backups); prune some, or overwrite one by using its name"));
  }
  const std::string half = GetPath(absl::StrCat(".", name, ".new"));
  std::error_code error;
  fs::remove_all(half, error);  // left by a process that was killed
  absl::StatusOr<int64_t> bytes = write_(half);
  if (bytes.ok()) {
    fs::rename(half, GetPath(name), error);
    if (error) bytes = ErrnoStatus(error.value(), half);
  }
  if (!bytes.ok()) {
    fs::remove_all(half, error);
    if (error) {
      LogWarning("cannot delete an incomplete backup",
                 {{"path", half}, {"error", error.message()}});
    }
  }
  return bytes;
}

// Lists the newest first. Folders whose names could not be backups are ignored.
absl::StatusOr<std::vector<BackupEntry>> Backups::List() {
  std::vector<BackupEntry> backups;
  std::error_code error;
  if (options_.dir.empty() || !fs::is_directory(options_.dir, error)) return backups;
  for (const auto& entry : fs::directory_iterator(options_.dir, error)) {
    const std::string name = entry.path().filename().string();
    std::error_code gone;
    if (!CheckName(name).ok() || !entry.is_directory(gone)) continue;
    // A folder without a complete backup takes room too, so it counts.
    const BackupState state =
        ReadBackup(entry.path().string()).value_or(BackupState{.kind = kind_});
    if (state.kind != kind_) continue;
    backups.push_back({.name = name, .bytes = state.bytes, .made_unix_ms = state.made_unix_ms});
  }
  if (error) return ErrnoStatus(error.value(), options_.dir);
  std::sort(backups.begin(), backups.end(), [](const BackupEntry& a, const BackupEntry& b) {
    return std::pair(b.made_unix_ms, b.name) < std::pair(a.made_unix_ms, a.name);
  });
  return backups;
}

// Deletes backups that are too old, or that are not among the newest `keep`; 0 switches a rule off.
// An error ends the work; what was deleted before stays deleted.
absl::StatusOr<std::vector<BackupEntry>> Backups::Prune(int keep, absl::Duration max_age,
                                                        absl::Time now) {
  if (keep < 0 || max_age < absl::ZeroDuration()) {
    return absl::InvalidArgumentError("keep and max_age_ms: must not be negative");
  }
  if (keep == 0 && max_age == absl::ZeroDuration()) {
    return absl::InvalidArgumentError("give keep or max_age_ms");
  }
  RETURN_IF_ERROR(CheckFolder());
  absl::MutexLock lock(&making_);
  ASSIGN_OR_RETURN(const std::vector<BackupEntry> backups, List());
  std::vector<BackupEntry> dropped;
  for (size_t i = backups.size(); i > 0; --i) {  // the oldest first
    const BackupEntry& backup = backups[i - 1];
    const bool too_many = keep > 0 && i > static_cast<size_t>(keep);
    const bool too_old =
        max_age > absl::ZeroDuration() && now - absl::FromUnixMillis(backup.made_unix_ms) > max_age;
    if (!too_many && !too_old) continue;
    std::error_code error;
    fs::remove_all(GetPath(backup.name), error);
    if (error) return ErrnoStatus(error.value(), GetPath(backup.name));
    dropped.push_back(backup);
  }
  return dropped;
}

}  // namespace kernelmill
