#ifndef KERNELMILL_SERVICES_STORE_CORE_CONTENT_STORE_H_
#define KERNELMILL_SERVICES_STORE_CORE_CONTENT_STORE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/hash.h"
#include "common/cas/blob_store.h"
#include "services/store/core/blob_id.h"
#include "services/store/core/lru_store.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// The sizes that the store accepts; GetCapabilities advertises them.
struct Limits {
  // The content of one batch. It must stay below gRPC's default limit of 4 MiB a message, digests
  // included.
  int64_t max_batch_bytes = (4 << 20) - (128 << 10);
  int64_t max_blob_bytes = int64_t{1} << 30;
};

// A blob as a client sends it; nothing is checked yet. Borrows the bytes.
struct NewBlob {
  BlobId id;
  absl::string_view bytes;
};

// A filter of results. All given fields must match; a result without the information never matches.
struct ResultFilter {
  std::string stage;    // also matches the entries of the stage's own caches; empty: any
  int32_t version = 0;  // the stage's version; 0: any
  std::string worker;   // the worker that wrote the result; empty: any
};

// The progress of a verification.
struct Verified {
  int64_t blobs = 0;
  int64_t bytes = 0;
  std::vector<BlobId> damaged;  // set in the last report only
  bool finished = false;
};

// Counts of lookups by result.
struct StoreCounters {
  std::atomic<int64_t> blobs_found{0};
  std::atomic<int64_t> blobs_missing{0};
  std::atomic<int64_t> results_found{0};
  std::atomic<int64_t> results_missing{0};
};

// Receives one blob in pieces and stores it if the pieces match its digest. Holds at most
// kChunkBytes in memory. `store` must outlive it. Not thread-safe; unusable after an error.
class BlobWriter {
 public:
  BlobWriter(LruStore* store, const BlobId& id) : store_(store), id_(id) {}

  // Adds a piece. INVALID_ARGUMENT: more bytes than the digest says.
  absl::Status Append(absl::string_view bytes);
  // Checks the digest and stores the blob durably. INVALID_ARGUMENT: the bytes do not match the
  // digest.
  absl::Status Finish();

 private:
  absl::Status FlushChunk();

  LruStore* const store_;
  const BlobId id_;
  Sha256Stream hash_;
  int64_t received_ = 0;
  std::string chunk_;
  std::unique_ptr<StagedBlob> staged_;
};

// The rules of a content-addressed store and its action cache, on top of a Storage, which it owns.
// Each call also returns the errors of Storage. Thread-safe.
class ContentStore {
 public:
  ContentStore(std::unique_ptr<Storage> storage, const Limits& limits,
               const RetentionOptions& retention = {});

  const Limits& limits() const { return limits_; }
  LruStore& lru() { return lru_; }
  const StoreCounters& counters() const { return counters_; }

  // Returns whether each blob exists, and records a use of those that do. The empty blob always
  // exists.
  absl::StatusOr<std::vector<bool>> Contains(absl::Span<const BlobId> ids);

  // Checks the size of a batch. INVALID_ARGUMENT: too large. Negative sizes count as 0; ToBlobId
  // refuses them.
  absl::Status CheckBatch(absl::Span<const int64_t> sizes) const;

  // Stores the blobs that match their digests, durably. Returns a status for each, in order.
  // INVALID_ARGUMENT: the blob does not match or is too large.
  std::vector<absl::Status> Put(absl::Span<const NewBlob> blobs);

  // Starts a blob that arrives in pieces. INVALID_ARGUMENT: larger than the limit.
  absl::StatusOr<std::unique_ptr<BlobWriter>> NewWriter(const BlobId& id);

  // Passes the bytes from `offset` on, at most `limit` (0: all). NOT_FOUND: the blob does not
  // exist. DATA_LOSS: it is damaged. OUT_OF_RANGE: the offset is outside the blob.
  // INVALID_ARGUMENT: the limit is negative.
  absl::Status Read(const BlobId& id, int64_t offset, int64_t limit, PieceSink sink);

  // Returns the whole blob. Errors: see Read.
  absl::StatusOr<std::string> Get(const BlobId& id);

  // Returns the action's result. NOT_FOUND: no result, or a blob that it names does not exist.
  absl::StatusOr<cas::ActionResult> GetActionResult(absl::string_view instance,
                                                    const BlobId& action);
  // Stores the action's result. INVALID_ARGUMENT: a digest in the result is malformed.
  absl::Status PutActionResult(absl::string_view instance, const BlobId& action,
                               const cas::ActionResult& result);

  // Deletes the matching results, so that their actions run again. Returns how many match; a dry
  // run only counts them. Calls `go_on` between steps and stops with its error. A result that is
  // rewritten meanwhile may be deleted too. INVALID_ARGUMENT: the filter is empty, or has a version
  // without a stage.
  absl::StatusOr<int64_t> ForgetResults(const ResultFilter& filter, bool dry_run,
                                        absl::FunctionRef<absl::Status()> go_on);

  // Reads every blob and compares it with its digest, which also finds damage from before the
  // database's checksums. Calls `report` regularly and at the end, and stops with its error. Marks
  // damaged blobs, which are then neither found nor served; `delete_damaged` deletes them.
  absl::Status Verify(bool delete_damaged, absl::FunctionRef<absl::Status(const Verified&)> report);

 private:
  absl::StatusOr<cas::ActionResult> FindActionResult(absl::string_view instance,
                                                     const BlobId& action);
  absl::StatusOr<bool> VerifyBlob(const BlobId& id, bool delete_damaged);

  const Limits limits_;
  LruStore lru_;
  StoreCounters counters_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_CONTENT_STORE_H_
