#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_HOLDS_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_HOLDS_H_

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "services/store/adapters/rocksdb/database/database.h"
#include "services/store/adapters/rocksdb/database/records.h"
#include "services/store/core/blob_id.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// The records of holds, by name and by blob, in the column family "hold". Each change is durable.
// Thread-safe.
class RocksDbHolds : public Holds {
 public:
  // `database` must outlive this.
  explicit RocksDbHolds(Database* database) : database_(database) {}

  absl::Status Save(const HoldRecord& hold, absl::Span<const BlobId> blobs) override;
  absl::Status Update(const HoldRecord& hold) override;
  absl::Status Delete(absl::string_view name) override;
  absl::StatusOr<std::vector<HoldRecord>> List() override;

 private:
  // NOT_FOUND: no hold of this name.
  absl::StatusOr<HoldValue> Find(absl::string_view name);
  absl::Status AddDeletion(uint64_t id, rocksdb::WriteBatch* batch);
  absl::StatusOr<uint64_t> NextId() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Database* const database_;
  absl::Mutex mutex_;
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 0;  // 0: not known yet
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_HOLDS_H_
