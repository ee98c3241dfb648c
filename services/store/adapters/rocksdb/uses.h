#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_USES_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_USES_H_

#include <rocksdb/write_batch.h>

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

// A last use, where there is one.
struct FoundUse {
  bool found = false;
  UseValue use;
};

// The last uses of these items, in order.
absl::StatusOr<std::vector<FoundUse>> ReadUses(Database* database,
                                               absl::Span<const std::string> items);

// Adds to `batch` that the item is used at `now`; `before` is its use until then.
void AddUse(Database* database, absl::string_view item, const FoundUse& before, const UseValue& now,
            rocksdb::WriteBatch* batch);

// Adds what a blob's new content, which is written into `batch` next, needs besides: its use, and
// the deletion of the content that was there before. Counts it in `delta` if it is new.
absl::Status AddReplacement(Database* database, const BlobId& id, Epoch now,
                            rocksdb::WriteBatch* batch, Usage* delta);

// Adds the deletion of all of a blob but its use. Where the header is damaged, chunks
// stay behind.
void AddContentDeletion(Database* database, const BlobId& id, rocksdb::WriteBatch* batch);
// Adds the deletion of all of a blob, or of a result.
void AddItemDeletion(Database* database, absl::string_view item, const UseValue& use,
                     rocksdb::WriteBatch* batch, Usage* delta);

// Last uses and their index in the column family "use". Thread-safe.
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
  // Items of the index before `before`, from where the last eviction ended.
  absl::StatusOr<std::vector<std::string>> OldestKeys(Epoch before)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(eviction_mutex_);
  absl::StatusOr<bool> IsHeld(absl::string_view item);
  // Adds to `sum` those of the index's keys that could be evicted.
  absl::Status CountSome(absl::Span<const std::string> keys, const EvictRequest& request,
                         Evictable* sum);

  Database* const database_;
  mutable absl::Mutex epoch_mutex_;
  EpochState epoch_ ABSL_GUARDED_BY(epoch_mutex_);
  absl::Mutex eviction_mutex_;
  // Nothing stands before it: the deletions there would have to be skipped each time.
  std::string from_ ABSL_GUARDED_BY(eviction_mutex_) = IndexBound(0);
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ROCKSDB_USES_H_
