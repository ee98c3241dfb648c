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

// The ports to the database: Blobs (the content), Uses (when each was used last, and eviction),
// Holds (what must not be evicted) and Disk (the files). The adapters implement them, and
// testing/memory_storage.h fakes them. All are thread-safe. An OK for a write means that it
// survives the loss of power, where nothing else is said.
//
// Errors: RESOURCE_EXHAUSTED: no room on the disk; DATA_LOSS: stored bytes are damaged;
// UNAVAILABLE: the disk fails.

// Blobs up to this size are written whole; larger ones are staged in chunks of this size. Which way
// a blob goes depends on its size alone, so that two writers of one blob always go the same way.
inline constexpr int64_t kChunkBytes = 4 << 20;

// Takes consecutive pieces of a blob. An error stops the reader, which returns it.
using ByteSink = absl::FunctionRef<absl::Status(absl::string_view)>;

// The time of last uses: a counter that advances with the bytes written, never with a wall clock.
// It begins with 1.
using Epoch = uint64_t;
// The last use of a blob that is not there.
inline constexpr Epoch kNoEpoch = std::numeric_limits<Epoch>::max();

// A blob whose bytes were checked against its id. Borrows the bytes.
struct CheckedBlob {
  BlobId id;
  absl::string_view bytes;
};

// An action result as it is kept.
struct StoredResult {
  std::string bytes;
  Epoch last_use = 0;
};

// Names a result.
struct ResultId {
  std::string instance;
  BlobId action;
};

// What is kept; `written` counts all content that ever was.
struct Usage {
  int64_t blobs = 0;
  int64_t blob_bytes = 0;
  int64_t results = 0;
  int64_t written = 0;
};

// A blob larger than kChunkBytes on its way in: invisible until Commit. Not thread-safe. What was
// not committed is deleted with the object, or after the next opening of the store.
class StagedBlob {
 public:
  virtual ~StagedBlob() = default;
  // The next kChunkBytes; only the last chunk may be shorter.
  virtual absl::Status Append(absl::string_view chunk) = 0;
  // Does ahead what of Commit takes long; Commit does it otherwise.
  virtual absl::Status Sync() { return absl::OkStatus(); }
  // Makes the blob visible, and durable, under `id`, whose hash the caller has checked; used at
  // `now`. It replaces a blob of this id. No one else may write this id at the time.
  virtual absl::Status Commit(const BlobId& id, Epoch now) = 0;
};

// The content: blobs and action results. Must outlive its StagedBlobs.
class Blobs {
 public:
  virtual ~Blobs() = default;

  // Keeps all blobs, each at most kChunkBytes, or none. The ids are distinct, and no one else
  // writes them at the time. `fresh`: none of them is there; otherwise each replaces a blob of its
  // id.
  virtual absl::Status Put(absl::Span<const CheckedBlob> blobs, bool fresh, Epoch now) = 0;
  virtual absl::StatusOr<std::unique_ptr<StagedBlob>> Stage() = 0;
  // Deletes what one upload left that a process before this one did not finish; true once there is
  // none.
  virtual absl::StatusOr<bool> DeleteAbandonedUpload() = 0;
  // Passes `length` bytes from `offset` on, which lie within the blob. NOT_FOUND: not there.
  virtual absl::Status Read(const BlobId& id, int64_t offset, int64_t length, ByteSink sink) = 0;
  // OK also where there is none. Nobody writes or touches it at the time.
  virtual absl::Status Delete(const BlobId& id) = 0;

  // NOT_FOUND: none is kept.
  virtual absl::StatusOr<StoredResult> GetResult(absl::string_view instance,
                                                 const BlobId& action) = 0;
  virtual absl::Status PutResult(absl::string_view instance, const BlobId& action,
                                 absl::string_view result, Epoch now) = 0;

  // At most `max` results that come after `after` (null: from the first) in an order that stays;
  // passes each with its bytes. The last one's name; none: there were no more.
  using ResultSink = absl::FunctionRef<void(const ResultId&, absl::string_view)>;
  virtual absl::StatusOr<std::optional<ResultId>> ListResults(const ResultId* after, size_t max,
                                                              ResultSink sink) = 0;
  // Deletes those that are there; how many were. Nobody writes or touches them at the time.
  virtual absl::StatusOr<int64_t> DeleteResults(absl::Span<const ResultId> results) = 0;

  // At most `max` blobs that come after `after` (null: from the first) in the order of their
  // hashes.
  virtual absl::StatusOr<std::vector<BlobId>> List(const BlobId* after, size_t max) = 0;
  // Blobs marked as damaged; the mark goes when the blob is put again, or deleted.
  virtual absl::StatusOr<std::vector<BlobId>> Damaged() = 0;
  virtual absl::Status MarkDamaged(const BlobId& id) = 0;

  virtual Usage usage() const = 0;
};

// A blob and when it was used last.
struct LastUse {
  BlobId id;
  Epoch epoch = 0;
};

struct EpochState {
  Epoch epoch = 1;
  int64_t started_at = 0;  // Usage::written when the epoch began
  // The power went: what was used before may not be recorded.
  bool uses_lost = false;
};

struct EvictRequest {
  Epoch before = 0;   // only what was not used in this epoch or since
  Epoch now = 0;      // what is held counts as used now
  int64_t bytes = 0;  // stop after so many
};
struct Evicted {
  std::vector<BlobId> blobs;
  int64_t results = 0;
  int64_t bytes = 0;      // of both
  bool finished = false;  // nothing else may be evicted
};

// What could be evicted.
struct Evictable {
  int64_t blobs = 0;
  int64_t results = 0;
  int64_t bytes = 0;  // of both
};

// When each blob and result was used last, and the eviction of the least recently used. Records of
// uses, the epoch and evictions survive the process, not the loss of power: what was evicted is
// there again then.
class Uses {
 public:
  virtual ~Uses() = default;

  // For each id when it was used last; kNoEpoch if it is not there, with that size.
  virtual absl::StatusOr<std::vector<Epoch>> LastUses(absl::Span<const BlobId> ids) = 0;
  // These blobs, whose last uses LastUses gave, are used now.
  virtual absl::Status Touch(absl::Span<const LastUse> uses, Epoch now) = 0;
  // OK also where there is none.
  virtual absl::Status TouchResult(absl::string_view instance, const BlobId& action, Epoch now) = 0;

  // As it was when the storage was opened or last set.
  virtual EpochState epoch() const = 0;
  virtual absl::Status SetEpoch(const EpochState& epoch) = 0;

  // Evicts a bounded number of those used longest ago that no hold names. Nobody touches at the
  // time.
  virtual absl::StatusOr<Evicted> EvictOldest(const EvictRequest& request) = 0;
  // What repeated calls of EvictOldest would evict until `bytes` are reached. Changes nothing.
  virtual absl::StatusOr<Evictable> CountOldest(const EvictRequest& request) = 0;
};

// A hold without its blobs.
struct HoldRecord {
  std::string name;
  int64_t blobs = 0;
  bool holds_uses = false;  // nothing used in the epoch `since` or later is evicted
  Epoch since = 0;
  int64_t ttl_ms = 0;  // 0: for ever
};

// The records of holds.
class Holds {
 public:
  virtual ~Holds() = default;
  // Replaces the hold of this name.
  virtual absl::Status Save(const HoldRecord& hold, absl::Span<const BlobId> blobs) = 0;
  // Replaces its record alone; its blobs stay.
  virtual absl::Status Update(const HoldRecord& hold) = 0;
  // OK also where there is none.
  virtual absl::Status Delete(absl::string_view name) = 0;
  virtual absl::StatusOr<std::vector<HoldRecord>> List() = 0;
};

// The database's files, and the room beside them. An estimate, cheap.
struct Space {
  int64_t disk_bytes = 0;
  int64_t garbage_bytes = 0;  // of them: what Reclaim would give back, as far as is known
  int64_t free_bytes = 0;
};

// What the database has done since it was opened, in bytes; for metrics.
struct Effort {
  double stalled_seconds = 0;  // that it held writes back
  int64_t written = 0;         // that it was asked to write
  int64_t flushed = 0;         // from memory to tables
  int64_t compaction_read = 0;
  int64_t compaction_written = 0;
  int64_t pending_compaction = 0;  // has still to be rewritten; an estimate
};

// The files that the database takes.
class Disk {
 public:
  virtual ~Disk() = default;
  virtual absl::StatusOr<Space> Measure() = 0;
  virtual Effort effort() = 0;
  // Gives what was evicted or deleted back to the disk. May take long.
  virtual absl::Status Reclaim() = 0;
  // Writes a consistent copy into the folder `dir`, or brings the one there up to date; its bytes.
  virtual absl::StatusOr<int64_t> BackUp(const std::string& dir) = 0;
  // From now on, Reclaim and BackUp end soon, with CANCELLED: the process is about to end.
  virtual void Stop() = 0;
};

// One database, which owns its ports.
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
