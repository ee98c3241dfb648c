#include "services/store/server/offline/offline.h"

#include "services/store/adapters/rocksdb/backup.h"

namespace kernelmill::store {

absl::Status RestoreStore(const std::string& backup_dir, const std::string& data_dir) {
  return RestoreBackup(backup_dir, data_dir);
}

}  // namespace kernelmill::store
