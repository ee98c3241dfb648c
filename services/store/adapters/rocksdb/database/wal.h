#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_WAL_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_WAL_H_

#include <rocksdb/file_system.h>
#include <rocksdb/listener.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "common/base/file.h"

namespace kernelmill::store {

// This header guards RocksDB's write-ahead log. RocksDB alone cannot tell a torn tail, which no
// client was told about, from damage to acknowledged writes. So SyncedSizes records how far each
// log is synced, WalMonitor keeps that record up to date while the database is open, and
// CheckWalTails and CutTornTails use it when the database is opened.

// A small file, SYNCED, beside the database: how far each of the latest logs has been synced, which
// is how far its writes were acknowledged. It is written after each sync and never synced itself.
// So it survives a crash of the process; after a loss of power it may name less than was synced,
// never more. Thread-safe.
class SyncedSizes {
 public:
  // Opens the file in `dir`, or creates it.
  static absl::StatusOr<std::unique_ptr<SyncedSizes>> Open(const std::string& dir);
  SyncedSizes(const SyncedSizes&) = delete;
  SyncedSizes& operator=(const SyncedSizes&) = delete;

  // True if the file existed. If not, nothing is known about older logs.
  bool was_there() const { return was_there_; }
  // The synced sizes by log number, as they were when the file was opened.
  const std::map<uint64_t, uint64_t>& found() const { return found_; }

  // Records that `size` bytes of the log `number` are synced.
  void Note(uint64_t number, uint64_t size);

 private:
  SyncedSizes(FileDescriptor file, bool was_there)
      : file_(std::move(file)), was_there_(was_there) {}

  const FileDescriptor file_;
  const bool was_there_;
  std::map<uint64_t, uint64_t> found_;
  absl::Mutex mutex_;
};

// Returns whether `path` names a log, and stores the log's number.
bool ParseWalName(absl::string_view path, uint64_t* number);

// A file system between RocksDB and its logs. It records how far each log is synced and detects
// failed writes and syncs. After one failure it stays broken: the kernel drops pages that it could
// not write, so that the next sync succeeds although data is lost. Thread-safe.
class WalMonitor : public rocksdb::FileSystemWrapper {
 public:
  // `on_broken` is called once, from the thread that detects the failure. May be null.
  WalMonitor(const std::shared_ptr<rocksdb::FileSystem>& target, std::unique_ptr<SyncedSizes> sizes,
             std::function<void(const absl::Status&)> on_broken);

  const char* Name() const override { return "KernelmillWalMonitor"; }
  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;

  // Reports that another file of the database could not be written or synced. RocksDB can then no
  // longer move the log's content into tables.
  void Failed(const rocksdb::Status& status, const char* what);

  // UNAVAILABLE: the log is broken, and no write may be acknowledged.
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

// Makes a listener to RocksDB's background work that reports failures to `monitor`, and damage to
// `on_damage`.
using DamageSink = std::function<void(const rocksdb::Status&)>;
std::shared_ptr<rocksdb::EventListener> NewFailureListener(std::shared_ptr<WalMonitor> monitor,
                                                           DamageSink on_damage);

// The bytes that the logs lost at their ends.
struct WalTails {
  uint64_t lost_bytes = 0;  // acknowledged, but missing
  uint64_t torn_bytes = 0;  // never acknowledged, and cut off
};

// Checks the last block of each log in `dir`. Call it before RocksDB opens the database, since
// RocksDB takes any damage within the last block for a torn write. A log that is shorter than its
// synced size has lost acknowledged writes; that cannot be repaired, and the caller reports it.
// DATA_LOSS: the synced part of a last block is damaged.
absl::StatusOr<WalTails> CheckWalTails(const std::string& dir, const SyncedSizes& sizes);

// Cuts off each log's tail from its first incomplete record on, if none of the tail was synced.
// Call it after RocksDB found a log damaged. DATA_LOSS: acknowledged data is damaged, or it is
// unknown whether it is; nothing is changed.
absl::StatusOr<WalTails> CutTornTails(const std::string& dir, const SyncedSizes& sizes);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_WAL_H_
