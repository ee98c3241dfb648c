#ifndef KERNELMILL_SERVICES_STORE_CORE_LRU_STORE_H_
#define KERNELMILL_SERVICES_STORE_CORE_LRU_STORE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "services/store/core/active_holds.h"
#include "services/store/core/admission.h"
#include "services/store/core/blob_id.h"
#include "services/store/core/key_locks.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// A cache of recent uses, which answers repeated lookups without the storage. An entry says that
// the storage has recorded a use of the blob in that epoch. Its size is bounded: each shard keeps
// two generations and forgets the older one when the younger is full. Thread-safe.
class RecencyCache {
 public:
  explicit RecencyCache(size_t max_entries);

  // Returns the noted epoch; 0: no entry.
  Epoch Get(const BlobId& id);
  void Note(const BlobId& id, Epoch epoch);
  void Erase(const BlobId& id);

 private:
  static constexpr size_t kShards = 64;
  using Map = absl::flat_hash_map<BlobId, Epoch, BlobIdHash>;
  struct alignas(64) Shard {
    absl::Mutex mutex;
    Map young ABSL_GUARDED_BY(mutex);
    Map old ABSL_GUARDED_BY(mutex);
  };

  Shard& GetShard(const BlobId& id);
  void Insert(Shard& shard, const BlobId& id, Epoch epoch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);

  const size_t max_young_;
  std::array<Shard, kShards> shards_;
};

// How much the store may keep, and how exactly it tracks uses.
struct RetentionOptions {
  int64_t limit_bytes = 0;  // the size of the database's files; 0: no limit
  // Bytes written in one epoch. 0: a 64th of the limit, at most 1 GiB.
  int64_t bytes_per_epoch = 0;
  // The space that stays free on the disk: with less, writes fail. 0: no space.
  int64_t keep_free_bytes = 64 << 20;
  size_t recency_cache_entries = 1 << 19;  // some 80 bytes each
  // How long a write waits for the garbage collector.
  absl::Duration max_write_wait = absl::Seconds(10);
  std::function<absl::Duration()> now;  // monotonic time, for holds; null: the system's
};

// A Storage, which it owns, with eviction of the least recently used items. Every use is recorded
// with its epoch. Items that are held, or that were used in this epoch or the one before, are not
// evicted. Blobs that are known to be damaged are neither found nor read, so that clients put them
// again. Thread-safe.
//
// The basic idea: a client that was told "this blob exists" must still find it a while later. So
// `eviction_mutex_` is held in shared mode from the lookup of a blob until its use is recorded, and
// exclusively while the epoch advances and while items are evicted. An eviction then sees the
// record of each use that was answered, and no epoch ends between a lookup and its record.
//   * New blobs need no such lock, since they become visible together with their record. A lock on
//     their keys (KeyLocks) separates two writers of one blob.
//   * A use that was already recorded in this epoch, as `recent_` knows, needs neither lock nor
//     storage: the blob cannot be evicted before two more epochs begin.
class LruStore {
 public:
  LruStore(std::unique_ptr<Storage> storage, const RetentionOptions& options);

  // Reads the holds and the damage marks. Call it before the store is served.
  absl::Status Load();

  // Returns whether each blob exists, and records a use of those that do.
  absl::StatusOr<std::vector<bool>> Find(absl::Span<const BlobId> ids);
  // Records a use. NOT_FOUND: the blob does not exist. DATA_LOSS: it is known to be damaged.
  absl::Status Touch(const BlobId& id);

  // Stores blobs of at most kChunkBytes each, durably; existing ones are not written again.
  absl::Status Put(absl::Span<const CheckedBlob> blobs);
  absl::StatusOr<std::unique_ptr<StagedBlob>> Stage() { return blobs_.Stage(); }
  absl::Status Append(StagedBlob& staged, absl::string_view chunk);
  absl::Status Commit(StagedBlob& staged, const BlobId& id);

  // Passes bytes of the blob; records no use (see Touch). Marks the blob as damaged on DATA_LOSS.
  absl::Status Read(const BlobId& id, int64_t offset, int64_t length, PieceSink sink);

  absl::StatusOr<std::string> GetResult(absl::string_view instance, const BlobId& action);
  absl::Status PutResult(absl::string_view instance, const BlobId& action,
                         absl::string_view result);

  // Deletes the results that exist, durably. Returns how many did.
  absl::StatusOr<int64_t> DeleteResults(absl::Span<const ResultId> results);

  // Makes the hold. Returns those of its blobs that do not exist.
  absl::StatusOr<std::vector<BlobId>> Hold(const HoldRequest& request);

  absl::Status AdvanceEpoch();
  Epoch epoch() const { return epoch_.load(std::memory_order_acquire); }
  // Evicts up to `bytes` of the least recently used items, in one bounded step.
  absl::StatusOr<Evicted> EvictOldest(int64_t bytes);
  // Returns what evicting `bytes` would evict if two epochs began first. Changes nothing.
  absl::StatusOr<Evictable> CountEvictable(int64_t bytes);
  // Makes holds of uses that hold everything, after a loss of uses or a repair, hold what is used
  // from the next epoch on. Returns whether there was any.
  bool TrustRecordedUses();
  // Returns whether nothing is evicted until two epochs have begun after a loss of uses.
  bool IsEvictionPaused() const;
  // Returns whether a hold of uses protects more than recency does.
  bool HoldsKeepMoreThanRecency() const;

  // Deletes a blob that is marked as damaged. OK if it is no longer marked.
  absl::Status DeleteDamaged(const BlobId& id);
  // Marks the blob as damaged, unless it does not exist or can be read again. `confirmed` skips
  // that check. Returns whether the blob is damaged.
  bool MarkDamaged(const BlobId& id, bool confirmed);
  size_t damaged() const { return damaged_count_.load(std::memory_order_acquire); }

  Blobs& blobs() { return blobs_; }
  Disk& disk() { return storage_->disk(); }
  ActiveHolds& holds() { return holds_; }
  Admission& admission() { return admission_; }

 private:
  absl::Status FindAndTouch(absl::Span<const BlobId> ids, const std::vector<size_t>& places,
                            std::vector<bool>* found) ABSL_SHARED_LOCKS_REQUIRED(eviction_mutex_);
  absl::StatusOr<std::vector<CheckedBlob>> Missing(absl::Span<const CheckedBlob> blobs);
  absl::Status Write(absl::Span<const CheckedBlob> blobs, Epoch* written_at);
  void ClearDamage(const BlobId& id);
  bool IsDamaged(const BlobId& id) const;
  bool IsUnreadable(const BlobId& id);
  // Stops eviction for two epochs, because uses could not be recorded.
  void SuspendEviction(Epoch now, const absl::Status& why);
  // Counts written bytes, and starts a new epoch when enough were written.
  void CountWritten(int64_t bytes);

  const std::unique_ptr<Storage> storage_;
  Blobs& blobs_;
  Uses& uses_;
  const int64_t bytes_per_epoch_;
  Admission admission_;
  ActiveHolds holds_;
  RecencyCache recent_;
  KeyLocks key_locks_;
  mutable absl::Mutex eviction_mutex_;
  std::atomic<Epoch> epoch_;
  std::atomic<int64_t> in_epoch_;       // bytes written in this epoch
  std::atomic<Epoch> uses_lost_in_{0};  // the last epoch in which records of uses were lost
  absl::flat_hash_set<BlobId, BlobIdHash> damaged_ ABSL_GUARDED_BY(eviction_mutex_);
  std::atomic<size_t> damaged_count_{0};
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_LRU_STORE_H_
