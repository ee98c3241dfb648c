#ifndef KERNELMILL_SERVICES_STORE_CORE_STORAGE_H_
#define KERNELMILL_SERVICES_STORE_CORE_STORAGE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "services/store/core/blob_id.h"

namespace kernelmill::store {

// Blobs up to this size are written whole; larger ones are staged in chunks of this size. Which way
// a blob goes depends on its size alone, so that two writers of one blob always go the same way.
inline constexpr int64_t kChunkBytes = 4 << 20;

// Takes consecutive pieces of a blob. An error stops the reader, which returns it.
using ByteSink = absl::FunctionRef<absl::Status(absl::string_view)>;

// The time of uses: it advances with the bytes that are written, never with a clock.
using Tick = uint64_t;
inline constexpr Tick kNotHeld = std::numeric_limits<Tick>::max();

// A blob whose bytes were checked against its id. Borrows the bytes.
struct CheckedBlob {
  BlobId id;
  absl::string_view bytes;
};

// A blob and when it was used last.
struct Use {
  BlobId id;
  Tick last = 0;
};

// A result as it is kept.
struct StoredResult {
  std::string bytes;
  Tick last_use = 0;
};

// What is kept, and the clock of uses: `written` counts all content that ever was.
struct Usage {
  int64_t blobs = 0;
  int64_t blob_bytes = 0;
  int64_t results = 0;
  int64_t written = 0;
};
struct ClockState {
  Tick tick = 1;
  int64_t started_at = 0;  // Usage::written when the tick began
  // What was used before the last process ended may lack its mark: the power went.
  bool marks_lost = false;
};

// The database's files, and the room beside them. An estimate, cheap.
struct Space {
  int64_t disk_bytes = 0;
  int64_t garbage_bytes = 0;  // of them: what Reclaim would give back, as far as is known
  int64_t free_bytes = 0;
};

struct DropRequest {
  Tick before = 0;    // only what was not used in this tick or since
  Tick now = 0;       // what is held counts as used now
  int64_t bytes = 0;  // stop after so many
};
struct Dropped {
  std::vector<BlobId> blobs;
  int64_t results = 0;
  int64_t bytes = 0;      // of both
  bool finished = false;  // nothing else may be dropped
};

// A hold without its blobs.
struct HoldRecord {
  std::string name;
  int64_t blobs = 0;
  bool fenced = false;  // nothing used in the tick `fence` or later is dropped
  Tick fence = 0;
  int64_t ttl_ms = 0;  // 0: for ever
};

// A blob larger than kChunkBytes on its way in: invisible until Commit. Not thread-safe. What was
// not committed is dropped with the object, or after the next opening of the store.
class StagedBlob {
 public:
  virtual ~StagedBlob() = default;
  // The next kChunkBytes; only the last chunk may be shorter.
  virtual absl::Status Append(absl::string_view chunk) = 0;
  // Does ahead what of Commit takes long; Commit does it otherwise.
  virtual absl::Status Sync() { return absl::OkStatus(); }
  // Makes the blob visible, and durable, under `id`, whose hash the caller has checked; used at
  // `now`. It replaces a blob of this id. No one else may write this id at the time.
  virtual absl::Status Commit(const BlobId& id, Tick now) = 0;
};

// Where blobs and action results are kept, with the last use of each: the port that the adapters
// implement. Thread-safe; must outlive its StagedBlobs. An OK for a write means that it survives
// the loss of power, where nothing else is said.
//
// Errors: RESOURCE_EXHAUSTED: no room on the disk; DATA_LOSS: stored bytes are damaged;
// UNAVAILABLE: the disk fails.
class Storage {
 public:
  virtual ~Storage() = default;

  // For each id when it was used last; kNotHeld if it is not there, with that size.
  virtual absl::StatusOr<std::vector<Tick>> LastUses(absl::Span<const BlobId> ids) = 0;
  // These blobs, whose last uses LastUses gave, are used now. Lost with the power, not with the
  // process.
  virtual absl::Status Touch(absl::Span<const Use> uses, Tick now) = 0;
  // Keeps all blobs, each at most kChunkBytes, or none. The ids are distinct, and no one else
  // writes them at the time. `fresh`: none of them is there; otherwise each replaces a blob of its
  // id.
  virtual absl::Status Put(absl::Span<const CheckedBlob> blobs, bool fresh, Tick now) = 0;
  virtual absl::StatusOr<std::unique_ptr<StagedBlob>> Stage() = 0;
  // Passes `length` bytes from `offset` on, which lie within the blob. NOT_FOUND: not held.
  virtual absl::Status Read(const BlobId& id, int64_t offset, int64_t length, ByteSink sink) = 0;

  // NOT_FOUND: none is kept.
  virtual absl::StatusOr<StoredResult> GetResult(absl::string_view instance,
                                                 const BlobId& action) = 0;
  virtual absl::Status TouchResult(absl::string_view instance, const BlobId& action, Tick last,
                                   Tick now) = 0;
  virtual absl::Status PutResult(absl::string_view instance, const BlobId& action,
                                 absl::string_view result, Tick now) = 0;

  // The clock, as it was when the storage was opened or last set. Setting it is as lasting as
  // Touch.
  virtual ClockState clock() const = 0;
  virtual absl::Status SetClock(const ClockState& clock) = 0;

  // One short step of the work that opening left to do (what broken uploads left, the records of an
  // older format); true when all is done. Nobody touches or drops at the time.
  virtual absl::StatusOr<bool> Settle(Tick now) = 0;
  // Drops a bounded number of those used longest ago. Nobody touches at the time. Lost with the
  // power: then they are there again. Only after Settle is done.
  virtual absl::StatusOr<Dropped> DropOldest(const DropRequest& request) = 0;
  // Drops this blob; OK also where there is none. Nobody writes or touches it at the time.
  virtual absl::Status Drop(const BlobId& id) = 0;
  // Gives what was dropped back to the disk. May take long.
  virtual absl::Status Reclaim() = 0;

  // At most `max` blobs that come after `after` (null: from the first) in the order of their
  // hashes.
  virtual absl::StatusOr<std::vector<BlobId>> List(const BlobId* after, size_t max) = 0;

  // Blobs marked as damaged; the mark goes when the blob is put again, or dropped.
  virtual absl::StatusOr<std::vector<BlobId>> Damaged() = 0;
  virtual absl::Status MarkDamaged(const BlobId& id) = 0;

  // Replaces the hold of this name.
  virtual absl::Status SaveHold(const HoldRecord& hold, absl::Span<const BlobId> blobs) = 0;
  // Replaces its record alone; its blobs stay.
  virtual absl::Status SaveFence(const HoldRecord& hold) = 0;
  // OK also where there is none.
  virtual absl::Status DeleteHold(absl::string_view name) = 0;
  virtual absl::StatusOr<std::vector<HoldRecord>> Holds() = 0;

  virtual Usage usage() const = 0;
  virtual absl::StatusOr<Space> MeasureSpace() = 0;
  // Writes a consistent copy into the folder `dir`, or brings the one there up to date; its bytes.
  virtual absl::StatusOr<int64_t> BackUp(const std::string& dir) = 0;
  // From now on, Reclaim and BackUp end soon, with CANCELLED: the process is about to end.
  virtual void Stop() = 0;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_STORAGE_H_
