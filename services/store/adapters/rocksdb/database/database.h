#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_DATABASE_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_DATABASE_H_

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/statistics.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "services/store/adapters/rocksdb/database/counters.h"
#include "services/store/adapters/rocksdb/database/options.h"
#include "services/store/adapters/rocksdb/database/wal.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// The open database: its column families, its counters, and reads and writes with the three levels
// of durability that the store needs. Thread-safe.
class Database {
 public:
  // Opens the database in `dir`. Errors: see OpenRocksDbStorage.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& dir,
                                                        const RocksDbOptions& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& dir() const { return dir_; }
  rocksdb::DB& db() { return *db_; }
  rocksdb::ColumnFamilyHandle* main() { return families_[0]; }
  rocksdb::ColumnFamilyHandle* cas() { return families_[1]; }
  rocksdb::ColumnFamilyHandle* ac() { return families_[2]; }
  rocksdb::ColumnFamilyHandle* use() { return families_[3]; }
  rocksdb::ColumnFamilyHandle* hold() { return families_[4]; }
  const std::vector<rocksdb::ColumnFamilyHandle*>& families() const { return families_; }

  // Writes the batch and syncs the log; concurrent writers share one sync. Adds `delta` to the
  // counters.
  absl::Status WriteDurably(rocksdb::WriteBatch& batch, absl::string_view context,
                            const Usage& delta = {});
  // Writes the batch without a sync: it survives a crash of the process, and a loss of power only
  // after the next durable write.
  absl::Status WriteLazily(rocksdb::WriteBatch& batch, absl::string_view context,
                           const Usage& delta = {});

  // Writes the batch without the log: it is lost with the process unless FlushContent follows. For
  // large content, which would go to the disk twice otherwise.
  absl::Status WriteUnlogged(rocksdb::WriteBatch& batch, absl::string_view context);
  // Makes every earlier write to "cas" durable. Concurrent callers share one flush.
  absl::Status FlushContent();

  // Reads a record. NOT_FOUND: it does not exist. DATA_LOSS: a checksum does not match.
  absl::Status Get(rocksdb::ColumnFamilyHandle* family, absl::string_view key,
                   rocksdb::PinnableSlice* value, absl::string_view context);
  // Reads a record without RocksDB's checksums; the caller must check the content.
  absl::Status GetUnchecked(rocksdb::ColumnFamilyHandle* family, absl::string_view key,
                            rocksdb::PinnableSlice* value, absl::string_view context);

  // Notes that a table is damaged, which no upload mends, and returns the error for clients.
  absl::Status NoteDamage(const absl::Status& damage);
  // Returns that error; OK: no table is known to be damaged.
  absl::Status damage() const;

  // RocksDB's counters since the database was opened.
  const rocksdb::Statistics& statistics() const { return *statistics_; }
  Usage usage() const { return counters_.sum(); }
  // The epoch as the last process left it.
  const EpochState& opened_epoch() const { return epoch_; }

 private:
  Database() = default;
  absl::Status OpenDb(const RocksDbOptions& options);
  absl::Status ReadEpoch();
  absl::Status NoteBoot();
  void NoteCleanEnd();
  absl::Status Write(rocksdb::WriteBatch& batch, bool sync, absl::string_view context,
                     const Usage& delta);
  absl::Status GetWith(const rocksdb::ReadOptions& options, rocksdb::ColumnFamilyHandle* family,
                       absl::string_view key, rocksdb::PinnableSlice* value,
                       absl::string_view context);

  std::string dir_;
  std::shared_ptr<rocksdb::Statistics> statistics_;
  std::function<void(double)> on_synced_;
  std::shared_ptr<WalMonitor> log_;
  std::unique_ptr<rocksdb::Env> env_;  // outlives the database
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  Counters counters_;
  EpochState epoch_;
  mutable absl::Mutex damage_mutex_;
  absl::Status damage_ ABSL_GUARDED_BY(damage_mutex_);
  bool opened_ = false;
  bool tail_was_lost_ = false;

  absl::Mutex flush_mutex_;
  absl::CondVar flush_ended_;
  uint64_t flushes_wanted_ ABSL_GUARDED_BY(flush_mutex_) = 0;
  uint64_t flushes_done_ ABSL_GUARDED_BY(flush_mutex_) = 0;  // requests that the last flush covered
  bool flushing_ ABSL_GUARDED_BY(flush_mutex_) = false;
  absl::Status flushed_ ABSL_GUARDED_BY(flush_mutex_);  // the last flush's status
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_DATABASE_H_
