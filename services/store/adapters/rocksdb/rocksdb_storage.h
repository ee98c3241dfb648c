#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_ROCKSDB_STORAGE_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_ROCKSDB_STORAGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/store/core/storage.h"

namespace rocksdb {
class FileSystem;
}

namespace kernelmill::store {

struct RocksDbOptions {
  size_t block_cache_bytes = 64 << 20;
  // What the database is meant to take at most; 0: no limit. Buffers and files are cut to fit.
  int64_t limit_bytes = 0;
  // Called once, from any thread, when the log can no longer be written or synced. Nothing is
  // acknowledged from then on, and the process had better end. May be null.
  std::function<void(const absl::Status&)> on_broken_log;
  std::shared_ptr<rocksdb::FileSystem> file_system;  // null: the system's; for tests
};

// Opens, or makes, the database in `dir`, which one process at a time can have open. Opening takes
// time for the log alone, not for the blobs held; a database of an older format is read, and
// brought up to date by Settle. FAILED_PRECONDITION: another process has it open, a newer program
// wrote it, or a restore did not come to its end; DATA_LOSS: it is damaged, and was left as it is.
absl::StatusOr<std::unique_ptr<Storage>> OpenRocksDbStorage(const std::string& dir,
                                                            const RocksDbOptions& options = {});

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_ROCKSDB_STORAGE_H_
