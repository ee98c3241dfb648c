#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_USES_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_USES_H_

#include <rocksdb/write_batch.h>

#include <cstdint>
#include <string>
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

// The last use of an item, if the item exists.
struct FoundUse {
  bool found = false;
  UseValue use;
};

// Returns the last use of each item, in order.
absl::StatusOr<std::vector<FoundUse>> ReadUses(Database* database,
                                               absl::Span<const std::string> items);

// Adds to `batch` that the item is used at `now`. `before` is its previous use.
void AddUse(Database* database, absl::string_view item, const FoundUse& before, const UseValue& now,
            rocksdb::WriteBatch* batch);

// Adds the use of a blob whose new content the caller adds next, and the deletion of its old
// content. Counts the blob in `delta` if it is new.
absl::Status AddReplacement(Database* database, const BlobId& id, Epoch now,
                            rocksdb::WriteBatch* batch, Usage* delta);

// Adds the deletion of a blob's content, not of its use. If the header is damaged, the chunks stay
// behind.
void AddContentDeletion(Database* database, const BlobId& id, rocksdb::WriteBatch* batch);
// Adds the deletion of a blob or a result, with its use.
void AddItemDeletion(Database* database, absl::string_view item, const UseValue& use,
                     rocksdb::WriteBatch* batch, Usage* delta);

// Last uses, and their index by epoch, in the column family "use". Thread-safe.
class RocksDbUses : public Uses {
 public:
  // `database` must outlive this.
  explicit RocksDbUses(Database* database)
      : database_(database), epoch_(database->opened_epoch()) {}

  absl::StatusOr<std::vector<Epoch>> LastUses(absl::Span<const BlobId> ids) override;
  absl::Status Touch(absl::Span<const LastUse> uses, Epoch now) override;
  absl::Status TouchResult(absl::string_view instance, const BlobId& action, Epoch now) override;
  EpochState epoch() const override;
  absl::Status SetEpoch(const EpochState& epoch) override;
  absl::StatusOr<Evicted> EvictOldest(const EvictRequest& request) override;
  absl::StatusOr<Evictable> CountOldest(const EvictRequest& request) override;

 private:
  // Returns the next keys of the index before the epoch `before`, from where the last eviction
  // ended.
  absl::StatusOr<std::vector<std::string>> OldestKeys(Epoch before)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(eviction_mutex_);
  absl::StatusOr<bool> IsHeld(absl::string_view item);
  // Adds to `sum` the items of these index keys that may be evicted.
  absl::Status CountSome(absl::Span<const std::string> keys, const EvictRequest& request,
                         Evictable* sum);

  Database* const database_;
  mutable absl::Mutex epoch_mutex_;
  EpochState epoch_ ABSL_GUARDED_BY(epoch_mutex_);
  absl::Mutex eviction_mutex_;
  // The key at which the next eviction starts. All keys before it are deleted; starting there saves
  // skipping their tombstones each time.
  std::string from_ ABSL_GUARDED_BY(eviction_mutex_) = IndexBound(0);
};

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
  absl::StatusOr<int64_t> SumBytes(absl::string_view name) override;

 private:
  // NOT_FOUND: no hold of this name.
  absl::StatusOr<HoldValue> Find(absl::string_view name);
  absl::Status AddDeletion(uint64_t id, rocksdb::WriteBatch* batch);
  absl::StatusOr<uint64_t> NextId() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Database* const database_;
  absl::Mutex mutex_;
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 0;  // 0: not read yet
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_USES_H_
