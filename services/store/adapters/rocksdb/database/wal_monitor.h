#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_WAL_MONITOR_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_WAL_MONITOR_H_

#include <rocksdb/file_system.h>
#include <rocksdb/listener.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "services/store/adapters/rocksdb/database/synced_sizes.h"

namespace kernelmill::store {

// Stands between RocksDB and the files of its write-ahead log: notes how far each has been synced
// (synced_sizes.h), and says when one cannot be synced or written any more. A log that failed once
// is not to be trusted again: the kernel drops the pages that it could not write, and the next sync
// succeeds. Thread-safe.
class WalMonitor : public rocksdb::FileSystemWrapper {
 public:
  // `on_broken` (may be null) is called once, from whichever thread meets the failure.
  WalMonitor(const std::shared_ptr<rocksdb::FileSystem>& target, std::unique_ptr<SyncedSizes> sizes,
             std::function<void(const absl::Status&)> on_broken);

  const char* Name() const override { return "KernelmillWalMonitor"; }
  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;

  // Another file of the database could not be written or synced: what the log holds can no longer
  // be moved on, and no write follows.
  void Failed(const rocksdb::Status& status, const char* what);

  // UNAVAILABLE: the log is broken; nothing may be acknowledged.
  absl::Status status() const;

 private:
  friend class MonitoredWal;
  void Synced(uint64_t number, uint64_t size);

  const std::unique_ptr<SyncedSizes> sizes_;
  const std::function<void(const absl::Status&)> on_broken_;
  std::atomic<bool> broken_{false};
  mutable absl::Mutex mutex_;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
};

// Tells `monitor` what fails in the background.
std::shared_ptr<rocksdb::EventListener> NewFailureListener(std::shared_ptr<WalMonitor> monitor);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_WAL_MONITOR_H_
