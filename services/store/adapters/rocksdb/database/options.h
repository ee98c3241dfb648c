#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_OPTIONS_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"

namespace rocksdb {
class FileSystem;
}

namespace kernelmill::store {

// How a database is opened. Separate from database.h, so that callers of OpenRocksDbStorage do not
// include RocksDB.
struct RocksDbOptions {
  size_t block_cache_bytes = 64 << 20;
  // The size that the database should not exceed; 0: no limit. Buffers and files are sized to fit.
  int64_t limit_bytes = 0;
  // Called once, from any thread, when the log can no longer be written or synced. No write
  // succeeds from then on; the process should exit. May be null.
  std::function<void(const absl::Status&)> on_broken_log;
  // Called after each durable write with its duration in seconds. May be null.
  std::function<void(double)> on_synced = nullptr;
  std::shared_ptr<rocksdb::FileSystem> file_system;  // for tests; null: the operating system's
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_OPTIONS_H_
