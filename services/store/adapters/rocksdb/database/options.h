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

// Apart from database.h, so that who opens a store does not include RocksDB.
struct RocksDbOptions {
  size_t block_cache_bytes = 64 << 20;
  // What the database is meant to take at most; 0: no limit. Buffers and files are cut to fit.
  int64_t limit_bytes = 0;
  // Called once, from any thread, when the log can no longer be written or synced. Nothing is
  // acknowledged from then on, and the process had better end. May be null.
  std::function<void(const absl::Status&)> on_broken_log;
  // Called after each write that is durable, with the seconds that it took. May be null.
  std::function<void(double)> on_synced = nullptr;
  std::shared_ptr<rocksdb::FileSystem> file_system;  // null: the system's; for tests
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_OPTIONS_H_
