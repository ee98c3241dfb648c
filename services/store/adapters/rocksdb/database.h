#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_H_

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/write_batch.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/store/adapters/rocksdb/counters.h"
#include "services/store/adapters/rocksdb/log_guard.h"
#include "services/store/adapters/rocksdb/rocksdb_storage.h"
#include "services/store/adapters/rocksdb/slices.h"
#include "services/store/adapters/rocksdb/synced_sizes.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// The open database: its column families, its counters, and the few operations that the rest is
// made of. Thread-safe.
class Database {
 public:
  // Errors as of OpenRocksDbStorage.
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

  // Durable once OK. Writers that wait at the same time share one sync. `delta` is counted.
  absl::Status WriteDurably(rocksdb::WriteBatch& batch, absl::string_view context,
                            const Usage& delta = {});
  // Survives this process, not the machine, until the next durable write.
  absl::Status WriteLazily(rocksdb::WriteBatch& batch, absl::string_view context,
                           const Usage& delta = {});

  // NOT_FOUND; DATA_LOSS: a checksum does not match.
  absl::Status Get(rocksdb::ColumnFamilyHandle* family, absl::string_view key,
                   rocksdb::PinnableSlice* value, absl::string_view context);

  Usage usage() const { return counters_.sum(); }
  // As the last process left it.
  const ClockState& opened_clock() const { return clock_; }

 private:
  Database() = default;
  absl::Status OpenDb(const RocksDbOptions& options);
  absl::Status CheckFormat();
  absl::Status ReadClock();
  absl::Status NoteBoot();
  absl::Status Write(rocksdb::WriteBatch& batch, bool sync, absl::string_view context,
                     const Usage& delta);

  std::string dir_;
  std::shared_ptr<LogGuard> log_;
  std::unique_ptr<rocksdb::Env> env_;  // outlives the database
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  Counters counters_;
  ClockState clock_;
  bool tail_was_lost_ = false;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_H_
