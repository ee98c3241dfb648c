#ifndef KERNELMILL_SERVICES_STORE_CORE_KEEPER_H_
#define KERNELMILL_SERVICES_STORE_CORE_KEEPER_H_

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
#include "services/store/core/admission.h"
#include "services/store/core/blob_id.h"
#include "services/store/core/claims.h"
#include "services/store/core/holds.h"
#include "services/store/core/recency_cache.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// Where the store forgets, and how much it may keep.
struct RetentionOptions {
  int64_t limit_bytes = 0;  // of the database's files; 0: none
  // The clock of uses ticks once per so many bytes written. 0: a 64th of the limit, or 1 GiB.
  int64_t bytes_per_tick = 0;
  size_t remembered_uses = 1 << 19;  // some 80 bytes each
  // How long a write waits for the collector where writers are faster.
  absl::Duration patience = absl::Seconds(10);
  std::function<absl::Duration()> now;  // monotonic, for the lives of holds; null: the system's
};

// A Storage, used by the rules of retention: every use is noted, what was used in this tick of the
// clock of uses or in the one before is not dropped, nor what is held; what is known to be damaged
// is neither found nor read, so that clients put it again. Thread-safe.
//
// The basic idea: `gate_` is held in shared mode from asking whether a blob is there until its use
// is marked in the storage, and exclusively while the clock advances and while old items are
// dropped. So whoever drops sees the mark of each use that was answered, and a tick does not end
// between a question and its mark. New blobs need no gate: they become visible together with their
// mark; a claim on their ids keeps two writers of one blob apart. A use that was marked in this
// very tick, as `recent_` knows, needs neither gate nor storage: it cannot be dropped before two
// ticks from now.
class Keeper {
 public:
  Keeper(std::unique_ptr<Storage> storage, const RetentionOptions& options);

  // Reads the holds and the marks of damage. Call it before the store is served.
  absl::Status Load();

  // Whether each is held; those that are count as used.
  absl::StatusOr<std::vector<bool>> Find(absl::Span<const BlobId> ids);
  // Counts as a use. NOT_FOUND; DATA_LOSS: known to be damaged.
  absl::Status Use(const BlobId& id);

  // Each at most kChunkBytes. Those that are held are not written again.
  absl::Status Put(absl::Span<const CheckedBlob> blobs);
  absl::StatusOr<std::unique_ptr<StagedBlob>> Stage() { return storage_->Stage(); }
  absl::Status Append(StagedBlob& staged, absl::string_view chunk);
  absl::Status Commit(StagedBlob& staged, const BlobId& id);

  // No use; see Use. DATA_LOSS marks the blob as damaged.
  absl::Status Read(const BlobId& id, int64_t offset, int64_t length, ByteSink sink);

  absl::StatusOr<std::string> GetResult(absl::string_view instance, const BlobId& action);
  absl::Status PutResult(absl::string_view instance, const BlobId& action,
                         absl::string_view result);

  // Holds what the wish says; which of its blobs are not there.
  absl::StatusOr<std::vector<BlobId>> Hold(const HoldWish& wish);

  // One step of what opening left to do; true once all is done.
  absl::StatusOr<bool> Settle();
  bool settled() const { return settled_.load(std::memory_order_acquire); }
  absl::Status AdvanceClock();
  Tick now() const { return clock_.load(std::memory_order_acquire); }
  // One step: drops up to `bytes` of those used longest ago that no rule keeps. Nothing before all
  // is settled.
  absl::StatusOr<Dropped> DropOldest(int64_t bytes);
  // Whether a fence keeps more than recency does.
  bool FenceIsClosed() const;
  // Drops a blob that is marked as damaged; OK where it no longer is.
  absl::Status DropDamaged(const BlobId& id);
  // Marks the blob as damaged unless it can be read after all (and the damage is not `confirmed`),
  // or is not there; whether it is damaged.
  bool MarkDamaged(const BlobId& id, bool confirmed);
  size_t damaged() const { return damaged_count_.load(std::memory_order_acquire); }

  Storage& storage() { return *storage_; }
  Holds& holds() { return holds_; }
  Admission& admission() { return admission_; }

 private:
  absl::Status FindMarked(absl::Span<const BlobId> ids, const std::vector<size_t>& places,
                          std::vector<bool>* held) ABSL_SHARED_LOCKS_REQUIRED(gate_);
  absl::StatusOr<std::vector<CheckedBlob>> Missing(absl::Span<const CheckedBlob> blobs);
  absl::Status Write(absl::Span<const CheckedBlob> blobs, Tick* written_at);
  void Healed(const BlobId& id);
  bool IsDamaged(const BlobId& id) const;
  bool IsUnreadable(const BlobId& id);
  // Marks could not be written.
  void LoseMarks(Tick now, const absl::Status& why);
  // Counts what was written, and lets the clock tick.
  void Wrote(int64_t bytes);

  const std::unique_ptr<Storage> storage_;
  const int64_t bytes_per_tick_;
  Admission admission_;
  Holds holds_;
  RecencyCache recent_;
  Claims claims_;
  mutable absl::Mutex gate_;
  std::atomic<Tick> clock_;
  std::atomic<int64_t> in_tick_;  // bytes written
  std::atomic<bool> settled_{false};
  std::atomic<Tick> marks_lost_at_{0};
  absl::flat_hash_set<BlobId, BlobIdHash> damaged_ ABSL_GUARDED_BY(gate_);
  std::atomic<size_t> damaged_count_{0};
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_KEEPER_H_
