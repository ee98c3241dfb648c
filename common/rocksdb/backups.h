#ifndef KERNELMILL_COMMON_ROCKSDB_BACKUPS_H_
#define KERNELMILL_COMMON_ROCKSDB_BACKUPS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace kernelmill {

// The folder of backups and its bounds.
struct BackupOptions {
  std::string dir;  // has one folder for each backup; empty: no backups
  int max_backups = 16;
};

// An existing backup.
struct BackupEntry {
  std::string name;
  int64_t bytes = 0;
  int64_t made_unix_ms = 0;
};

// The backups of a database: a bounded number of folders below one folder. A new backup is written
// under a name that begins with '.' and renamed when it is complete, so that incomplete backups are
// never listed. Only Prune deletes backups. Thread-safe.
class Backups {
 public:
  // Writes a backup of the database into a folder, or updates the one there, and returns its size.
  using Writer = std::function<absl::StatusOr<int64_t>(const std::string& dir)>;
  // `kind`: of the database (backup.h). Backups of another kind in the folder are left alone.
  Backups(const BackupOptions& options, std::string kind, Writer write)
      : options_(options), kind_(std::move(kind)), write_(std::move(write)) {}

  struct Made {
    std::string path;
    int64_t bytes = 0;
  };
  // Creates the backup, or updates the one with this name. INVALID_ARGUMENT: the name is invalid.
  // FAILED_PRECONDITION: no folder for backups is set. RESOURCE_EXHAUSTED: too many backups, or the
  // disk is full. After an error no new backup exists, and an existing one is unchanged.
  absl::StatusOr<Made> Make(const std::string& name);

  // Returns the backups of this kind, the newest first; empty if no folder is set.
  absl::StatusOr<std::vector<BackupEntry>> List();

  // Deletes the oldest backups until at most `keep` are left (0: no limit), and all older than
  // `max_age` (0: no limit). Returns the deleted ones. INVALID_ARGUMENT: both are 0, or one is
  // negative.
  absl::StatusOr<std::vector<BackupEntry>> Prune(int keep, absl::Duration max_age, absl::Time now);

 private:
  absl::Status CheckFolder() const;
  absl::StatusOr<int64_t> MakeNew(const std::string& name);
  std::string GetPath(const std::string& name) const { return options_.dir + "/" + name; }

  const BackupOptions options_;
  const std::string kind_;
  const Writer write_;
  absl::Mutex making_;  // held while a backup is made or deleted
};

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_ROCKSDB_BACKUPS_H_
