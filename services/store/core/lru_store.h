#ifndef KERNELMILL_SERVICES_STORE_CORE_LRU_STORE_H_
#define KERNELMILL_SERVICES_STORE_CORE_LRU_STORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
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
#include "services/store/core/recency_cache.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// How much the store may keep, and how it tells what was used last.
struct RetentionOptions {
  int64_t limit_bytes = 0;  // of the database's files; 0: none
  // A new epoch begins once per so many bytes written. 0: a 64th of the limit, or 1 GiB.
  int64_t bytes_per_epoch = 0;
  // Free on the disk; below it nothing is written until there is more again. 0: nothing is left.
  int64_t keep_free_bytes = 64 << 20;
  size_t recency_cache_entries = 1 << 19;  // some 80 bytes each
  // How long a write waits for the garbage collector where writers are faster.
  absl::Duration max_write_wait = absl::Seconds(10);
  std::function<absl::Duration()> now;  // monotonic, for the lives of holds; null: the system's
};

// A Storage that evicts what was used least recently: every use is recorded with its epoch; what
// was used in this epoch or in the one before is not evicted, nor what is held. What is known to be
// damaged is neither found nor read, so that clients put it again. Thread-safe.
//
// The basic idea: `eviction_mutex_` is held in shared mode from asking whether a blob is there
// until its use is recorded in the storage, and exclusively while the epoch advances and while old
// items are evicted. So an eviction sees the record of each use that was answered, and an epoch
// does not end between a question and its record. New blobs need no such lock: they become visible
// together with their record; a lock on their keys keeps two writers of one blob apart. A use that
// was recorded in this very epoch, as `recent_` knows, needs neither lock nor storage: it cannot be
// evicted before two epochs from now.
class LruStore {
 public:
  LruStore(std::unique_ptr<Storage> storage, const RetentionOptions& options);

  // Reads the holds and the marks of damage. Call it before the store is served.
  absl::Status Load();

  // Whether each is there; those that are count as used.
  absl::StatusOr<std::vector<bool>> Find(absl::Span<const BlobId> ids);
  // Counts as a use. NOT_FOUND; DATA_LOSS: known to be damaged.
  absl::Status Touch(const BlobId& id);

  // Each at most kChunkBytes. Those that are there are not written again.
  absl::Status Put(absl::Span<const CheckedBlob> blobs);
  absl::StatusOr<std::unique_ptr<StagedBlob>> Stage() { return blobs_.Stage(); }
  absl::Status Append(StagedBlob& staged, absl::string_view chunk);
  absl::Status Commit(StagedBlob& staged, const BlobId& id);

  // No use; see Touch. DATA_LOSS marks the blob as damaged.
  absl::Status Read(const BlobId& id, int64_t offset, int64_t length, ByteSink sink);

  absl::StatusOr<std::string> GetResult(absl::string_view instance, const BlobId& action);
  absl::Status PutResult(absl::string_view instance, const BlobId& action,
                         absl::string_view result);

  // Deletes those that are there, durably; how many were.
  absl::StatusOr<int64_t> DeleteResults(absl::Span<const ResultId> results);

  // Makes the hold; which of its blobs are not there.
  absl::StatusOr<std::vector<BlobId>> Hold(const HoldRequest& request);

  absl::Status AdvanceEpoch();
  Epoch epoch() const { return epoch_.load(std::memory_order_acquire); }
  // One step: evicts up to `bytes` of those used longest ago that nothing keeps.
  absl::StatusOr<Evicted> EvictOldest(int64_t bytes);
  // What evicting `bytes` would evict, were two epochs begun first. Changes nothing.
  absl::StatusOr<Evictable> CountEvictable(int64_t bytes);
  // Whether a hold of uses keeps more than recency does.
  bool HoldsKeepMoreThanRecency() const;

  // Deletes a blob that is marked as damaged; OK where it no longer is.
  absl::Status DeleteDamaged(const BlobId& id);
  // Marks the blob as damaged unless it can be read after all (and the damage is not `confirmed`),
  // or is not there; whether it is damaged.
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
  // Uses could not be recorded: nothing is evicted for a while.
  void SuspendEviction(Epoch now, const absl::Status& why);
  // Counts what was written, and begins a new epoch where that was enough.
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
  std::atomic<int64_t> in_epoch_;  // bytes written
  std::atomic<Epoch> uses_lost_in_{0};
  absl::flat_hash_set<BlobId, BlobIdHash> damaged_ ABSL_GUARDED_BY(eviction_mutex_);
  std::atomic<size_t> damaged_count_{0};
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_LRU_STORE_H_
