#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_H_

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "services/store/core/blob_id.h"

namespace kernelmill::store {

// The open database: its column families and the few operations that the rest is made of.
// Thread-safe.
class Database {
 public:
  // FAILED_PRECONDITION: another process has it open, or a newer program wrote it; DATA_LOSS:
  // damaged.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& dir,
                                                        size_t block_cache_bytes);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  rocksdb::DB& db() { return *db_; }
  rocksdb::ColumnFamilyHandle* cas() { return cas_; }
  rocksdb::ColumnFamilyHandle* ac() { return ac_; }

  // Durable once OK. Writers that wait at the same time share one sync.
  absl::Status WriteDurably(rocksdb::WriteBatch& batch, absl::string_view context);
  // Survives this process, not the machine, until the next durable write.
  absl::Status WriteLazily(rocksdb::WriteBatch& batch, absl::string_view context);

  // NOT_FOUND; DATA_LOSS: a checksum does not match.
  absl::Status Get(rocksdb::ColumnFamilyHandle* family, absl::string_view key,
                   rocksdb::PinnableSlice* value, absl::string_view context);

  // Held while a staged blob of this hash becomes visible, so that one of two equal ones goes.
  absl::Mutex& CommitMutex(const BlobId& id);

 private:
  Database() = default;
  absl::Status CheckFormat();

  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* default_ = nullptr;
  rocksdb::ColumnFamilyHandle* cas_ = nullptr;
  rocksdb::ColumnFamilyHandle* ac_ = nullptr;
  std::array<absl::Mutex, 64> commit_mutexes_;
};

inline rocksdb::Slice ToSlice(absl::string_view s) { return rocksdb::Slice(s.data(), s.size()); }
inline absl::string_view ToView(const rocksdb::Slice& s) {
  return absl::string_view(s.data(), s.size());
}

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_DATABASE_H_
