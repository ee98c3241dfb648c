#ifndef KERNELMILL_COMMON_ROCKSDB_BACKUP_H_
#define KERNELMILL_COMMON_ROCKSDB_BACKUP_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rocksdb {
class DB;
}

namespace kernelmill {

// The kinds of databases. A backup has the kind of its database; one that an earlier release made
// has none, and is a store's.
inline constexpr char kStoreDatabase[] = "store";
inline constexpr char kCoordinatorDatabase[] = "coordinator";

// Writes a consistent copy of the open database into `backup_dir` and returns the size of the whole
// backup in bytes. Creates the folder if it does not exist. An existing backup of the same database
// is updated: unchanged files are not copied again, and the old state is deleted once the new one
// is complete. RESOURCE_EXHAUSTED: the disk is full. DATA_LOSS: a file of the database is damaged.
// CANCELLED: `stop` became true. FAILED_PRECONDITION: the folder has a backup of another kind.
// After an error the existing backup is unchanged.
absl::StatusOr<int64_t> BackUp(rocksdb::DB* db, const std::string& kind,
                               const std::string& backup_dir, const std::atomic<bool>& stop);

// The state of one backup folder.
struct BackupState {
  int64_t bytes = 0;
  int64_t made_unix_ms = 0;
  std::string kind;
};
// Reads the size, the time and the kind of the backup in `backup_dir`. NOT_FOUND: it contains no
// complete backup.
absl::StatusOr<BackupState> ReadBackup(const std::string& backup_dir);

// Restores the backup in `backup_dir` into `data_dir`, after checking each file against the
// backup's checksums. Creates `data_dir` if it does not exist; no server may run on it. NOT_FOUND:
// no backup. FAILED_PRECONDITION: `data_dir` is not empty, or the backup is of another kind.
// DATA_LOSS: the backup is damaged. After an error `data_dir` is empty. If the restore is killed,
// the server refuses to open what it left behind.
absl::Status RestoreBackup(const std::string& kind, const std::string& backup_dir,
                           const std::string& data_dir);

// Checks that no unfinished restore is in `data_dir`. FAILED_PRECONDITION: there is one.
absl::Status CheckRestored(const std::string& data_dir);

// Returns true from RestoreBackup on until ForgetRestore is called: the database is older than what
// clients have seen of it.
bool IsRestored(const std::string& data_dir);
absl::Status ForgetRestore(const std::string& data_dir);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_ROCKSDB_BACKUP_H_
