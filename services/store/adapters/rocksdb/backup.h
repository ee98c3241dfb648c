#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_BACKUP_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_BACKUP_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rocksdb {
class DB;
}

namespace kernelmill::store {

// Writes a consistent copy of the open database into `backup_dir`, which is made if it is not
// there, and returns the bytes that the whole backup takes. A backup of the same database that is
// there already is brought up to date: files that have not changed are not copied again, and the
// older state goes once the newer is whole. RESOURCE_EXHAUSTED: no room; DATA_LOSS: a file of the
// database is damaged, and the backup is left as it was.
// CANCELLED: `stop` has become true; the backup is left as it was then, too.
absl::StatusOr<int64_t> BackUp(rocksdb::DB* db, const std::string& backup_dir,
                               const std::atomic<bool>& stop);

// What a backup's folder holds: the bytes of the whole backup, and when it was made. NOT_FOUND: no
// whole backup is there.
struct BackupState {
  int64_t bytes = 0;
  int64_t made_unix_ms = 0;
};
absl::StatusOr<BackupState> ReadBackup(const std::string& backup_dir);

// Makes in `data_dir`, which is made if it is not there, the database whose backup is in
// `backup_dir`, after checking each file against the backup's checksums. No store may run on
// `data_dir`. NOT_FOUND: no backup there; FAILED_PRECONDITION: `data_dir` is not empty; DATA_LOSS:
// the backup is damaged. On an error, `data_dir` is empty again; a store refuses to open what a
// restore that was killed has left.
absl::Status RestoreBackup(const std::string& backup_dir, const std::string& data_dir);

// FAILED_PRECONDITION: a restore into `data_dir` has not come to its end.
absl::Status CheckRestored(const std::string& data_dir);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_BACKUP_H_
