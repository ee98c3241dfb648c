#ifndef KERNELMILL_SERVICES_STORE_CORE_STORAGE_H_
#define KERNELMILL_SERVICES_STORE_CORE_STORAGE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "services/store/core/blob_id.h"

namespace kernelmill::store {

// The ports to the database: Blobs (the content), Uses (last uses, and eviction), Holds (protection
// from eviction) and Disk (the files). adapters/rocksdb implements them; testing/memory_storage.h
// is a fake. All are thread-safe. Unless a comment says otherwise, a write that returns OK survives
// a loss of power.
//
// Errors: RESOURCE_EXHAUSTED: the disk is full. DATA_LOSS: stored bytes are damaged. UNAVAILABLE:
// the disk fails.

// Blobs up to this size are written whole; larger blobs are staged in chunks of this size. The
// choice depends only on the size, so that two writers of one blob always store it the same way.
inline constexpr int64_t kChunkBytes = 4 << 20;

// A function that takes consecutive pieces of bytes. Its error stops the reader, which returns it.
using ByteSink = absl::FunctionRef<absl::Status(absl::string_view)>;

// A part of a blob's content. A copy of `owner` keeps the bytes; null: they are there during the
// call only.
struct Piece {
  absl::string_view bytes;
  std::shared_ptr<const void> owner;
};
using PieceSink = absl::FunctionRef<absl::Status(const Piece&)>;

// The time of last uses: a counter that starts with 1 and advances with the bytes written, not with
// a clock.
using Epoch = uint64_t;
// The last use of a blob that does not exist.
inline constexpr Epoch kNoEpoch = std::numeric_limits<Epoch>::max();

// A blob whose bytes match its id. Borrows the bytes.
struct CheckedBlob {
  BlobId id;
  absl::string_view bytes;
};

// A stored action result.
struct StoredResult {
  std::string bytes;
  Epoch last_use = 0;
};

// The name of a result.
struct ResultId {
  std::string instance;
  BlobId action;
};

// Counts of what is stored; `written` counts all bytes ever written.
struct Usage {
  int64_t blobs = 0;
  int64_t blob_bytes = 0;
  int64_t results = 0;
  int64_t result_bytes = 0;
  int64_t written = 0;
};

// A blob larger than kChunkBytes while it is uploaded. It is invisible until Commit. Without a
// Commit its chunks are deleted with this object, or after the next start. Not thread-safe.
class StagedBlob {
 public:
  virtual ~StagedBlob() = default;
  // Adds the next kChunkBytes; only the last chunk may be shorter.
  virtual absl::Status Append(absl::string_view chunk) = 0;
  // Does the slow part of Commit; otherwise Commit does it.
  virtual absl::Status Sync() { return absl::OkStatus(); }
  // Makes the blob visible and durable under `id`, with a use at `now`. Replaces a blob with this
  // id. The caller has checked the hash and excludes other writers of this id.
  virtual absl::Status Commit(const BlobId& id, Epoch now) = 0;
};

// The content: blobs and action results. Must outlive its StagedBlobs. Thread-safe.
class Blobs {
 public:
  virtual ~Blobs() = default;

  // Stores all blobs, each at most kChunkBytes, or none. The ids are distinct, and the caller
  // excludes other writers of them. `fresh`: none of them exists; otherwise each may replace a
  // blob.
  virtual absl::Status Put(absl::Span<const CheckedBlob> blobs, bool fresh, Epoch now) = 0;
  virtual absl::StatusOr<std::unique_ptr<StagedBlob>> Stage() = 0;
  // Deletes the chunks of one upload that an earlier process did not finish. Returns true when no
  // such upload is left.
  virtual absl::StatusOr<bool> DeleteAbandonedUpload() = 0;
  // Passes `length` bytes from `offset` on; the range must be within the blob. NOT_FOUND: the blob
  // does not exist.
  virtual absl::Status Read(const BlobId& id, int64_t offset, int64_t length, PieceSink sink) = 0;
  // Deletes the blob. OK if it does not exist. The caller excludes other writes and uses of it.
  virtual absl::Status Delete(const BlobId& id) = 0;

  // Returns the action's result. NOT_FOUND: no result.
  virtual absl::StatusOr<StoredResult> GetResult(absl::string_view instance,
                                                 const BlobId& action) = 0;
  virtual absl::Status PutResult(absl::string_view instance, const BlobId& action,
                                 absl::string_view result, Epoch now) = 0;

  // Passes at most `max` results after `after` (null: from the first), in a stable order, each with
  // its bytes. Returns the last one's name, or nothing if there are no more.
  using ResultSink = absl::FunctionRef<void(const ResultId&, absl::string_view)>;
  virtual absl::StatusOr<std::optional<ResultId>> ListResults(const ResultId* after, size_t max,
                                                              ResultSink sink) = 0;
  // Deletes the results that exist. Returns how many did. The caller excludes other writes and uses
  // of them.
  virtual absl::StatusOr<int64_t> DeleteResults(absl::Span<const ResultId> results) = 0;

  // Returns at most `max` blobs after `after` (null: from the first), in the order of their hashes.
  virtual absl::StatusOr<std::vector<BlobId>> List(const BlobId* after, size_t max) = 0;
  // Returns the blobs marked as damaged. Putting or deleting a blob removes its mark.
  virtual absl::StatusOr<std::vector<BlobId>> Damaged() = 0;
  // Marks a blob that exists, and drops its content. It counts as existing until it is deleted.
  virtual absl::Status MarkDamaged(const BlobId& id) = 0;

  virtual Usage usage() const = 0;
};

// A blob and when it was used last.
struct LastUse {
  BlobId id;
  Epoch epoch = 0;
};

// The current epoch.
struct EpochState {
  Epoch epoch = 1;
  int64_t started_at = 0;  // Usage::written when the epoch began
  // True if records of uses may be lost, after a loss of power.
  bool uses_lost = false;
};

// One step of eviction.
struct EvictRequest {
  Epoch before = 0;   // evicts only items whose last use is in an earlier epoch
  Epoch now = 0;      // held items are recorded as used in this epoch
  int64_t bytes = 0;  // stops after evicting this many
};
// The result of an eviction step.
struct Evicted {
  std::vector<BlobId> blobs;
  int64_t results = 0;
  int64_t bytes = 0;      // blobs and results
  bool finished = false;  // true if nothing else may be evicted
};

// Counts of items that could be evicted.
struct Evictable {
  int64_t blobs = 0;
  int64_t results = 0;
  int64_t bytes = 0;  // blobs and results
};

// The last use of each blob and result, and the eviction of the least recently used. Records of
// uses, the epoch and evictions survive a crash of the process, but not a loss of power, after
// which evicted items may exist again. Thread-safe.
class Uses {
 public:
  virtual ~Uses() = default;

  // Returns the last use of each blob; kNoEpoch if no blob has this id, size included.
  virtual absl::StatusOr<std::vector<Epoch>> LastUses(absl::Span<const BlobId> ids) = 0;
  // Records a use of these blobs now. `uses` has the epochs that LastUses returned.
  virtual absl::Status Touch(absl::Span<const LastUse> uses, Epoch now) = 0;
  // Records a use of the result. OK if it does not exist.
  virtual absl::Status TouchResult(absl::string_view instance, const BlobId& action, Epoch now) = 0;

  // The epoch, as it was when the storage was opened or last set.
  virtual EpochState epoch() const = 0;
  virtual absl::Status SetEpoch(const EpochState& epoch) = 0;

  // Evicts a bounded number of the least recently used items that no hold names. The caller
  // excludes uses meanwhile.
  virtual absl::StatusOr<Evicted> EvictOldest(const EvictRequest& request) = 0;
  // Returns what repeated calls of EvictOldest would evict until `bytes` are reached. Changes
  // nothing.
  virtual absl::StatusOr<Evictable> CountOldest(const EvictRequest& request) = 0;
};

// The hold of everything that a repair makes if holds may be lost.
inline constexpr absl::string_view kRepairHold = "repair";

// A hold without its list of blobs.
struct HoldRecord {
  std::string name;
  int64_t blobs = 0;
  bool holds_uses = false;  // protects everything used in the epoch `since` or later
  Epoch since = 0;          // 0: everything, since it is unknown what was used when
  int64_t ttl_ms = 0;       // 0: no end
};

// The records of holds. Thread-safe.
class Holds {
 public:
  virtual ~Holds() = default;
  // Creates or replaces the hold of this name.
  virtual absl::Status Save(const HoldRecord& hold, absl::Span<const BlobId> blobs) = 0;
  // Replaces the record of an existing hold; its blobs stay.
  virtual absl::Status Update(const HoldRecord& hold) = 0;
  // Deletes the hold. OK if it does not exist.
  virtual absl::Status Delete(absl::string_view name) = 0;
  virtual absl::StatusOr<std::vector<HoldRecord>> List() = 0;
  // Returns the bytes of the hold's blobs that exist; 0 if there is no hold of this name. Reads a
  // record for each blob.
  virtual absl::StatusOr<int64_t> SumBytes(absl::string_view name) = 0;
};

// An estimate of the database's size and of the disk's free space.
struct Space {
  int64_t disk_bytes = 0;
  int64_t garbage_bytes = 0;  // the part of disk_bytes that Reclaim would free, as far as known
  int64_t free_bytes = 0;
};

// The work of the database since it was opened, in bytes; for metrics.
struct Effort {
  double stalled_seconds = 0;  // time in which it delayed writes
  int64_t written = 0;         // bytes that callers wrote
  int64_t flushed = 0;         // from memory to tables
  int64_t compaction_read = 0;
  int64_t compaction_written = 0;
  int64_t pending_compaction = 0;  // still to be rewritten; an estimate
};

// The database's files. Thread-safe.
class Disk {
 public:
  virtual ~Disk() = default;
  virtual absl::StatusOr<Space> Measure() = 0;
  virtual Effort effort() = 0;
  // Frees the disk space of evicted and deleted content. May take long.
  virtual absl::Status Reclaim() = 0;
  // Writes a consistent copy into the folder `dir`, or updates the copy there. Returns its size.
  virtual absl::StatusOr<int64_t> BackUp(const std::string& dir) = 0;
  // Makes Reclaim and BackUp end soon, with CANCELLED, now and later. Called before shutdown.
  virtual void Stop() = 0;
};

// One database. It owns its ports.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual Blobs& blobs() = 0;
  virtual Uses& uses() = 0;
  virtual Holds& holds() = 0;
  virtual Disk& disk() = 0;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_STORAGE_H_
