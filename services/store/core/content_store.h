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

// What the store takes; advertised through GetCapabilities.
struct Limits {
  // The content of one batch. Clients die at gRPC's default of 4 MiB a message, digests included.
  int64_t max_batch_bytes = (4 << 20) - (128 << 10);
  int64_t max_blob_bytes = int64_t{1} << 30;
};

// A blob as a client hands it in: nothing about it is checked yet. Borrows the bytes.
struct NewBlob {
  BlobId id;
  absl::string_view bytes;
};

// Which results; all that is given must hold of one. Results that say nothing of it never match.
struct ResultFilter {
  std::string stage;    // empty: any; else also those of the caches that the stage keeps for itself
  int32_t version = 0;  // of the stage; 0: any
  std::string worker;   // that wrote it; empty: any
};

// How far a verification is.
struct Verified {
  int64_t blobs = 0;
  int64_t bytes = 0;
  std::vector<BlobId> damaged;  // in the last report alone
  bool finished = false;
};

// What was asked for, and whether it was there.
struct StoreCounters {
  std::atomic<int64_t> blobs_found{0};
  std::atomic<int64_t> blobs_missing{0};
  std::atomic<int64_t> results_found{0};
  std::atomic<int64_t> results_missing{0};
};

// Takes one blob in pieces and stores it if the pieces add up to its digest. Holds at most
// kChunkBytes in memory. Not thread-safe; after an error it is of no further use. `store` must
// outlive it.
class BlobWriter {
 public:
  BlobWriter(LruStore* store, const BlobId& id) : store_(store), id_(id) {}

  // INVALID_ARGUMENT: more bytes than the digest says.
  absl::Status Append(absl::string_view bytes);
  // The blob is durable once this is OK. INVALID_ARGUMENT: the bytes are not those of the digest.
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

// The rules of a content-addressed store and its action cache, above a Storage. Thread-safe.
// Besides the codes below, each call passes on the errors of Storage.
class ContentStore {
 public:
  ContentStore(std::unique_ptr<Storage> storage, const Limits& limits,
               const RetentionOptions& retention = {});

  const Limits& limits() const { return limits_; }
  LruStore& lru() { return lru_; }
  const StoreCounters& counters() const { return counters_; }

  // Each that is there counts as used. The empty blob is always there.
  absl::StatusOr<std::vector<bool>> Contains(absl::Span<const BlobId> ids);

  // INVALID_ARGUMENT: blobs of these sizes are too much for one batch. Negative sizes, which have
  // errors of their own, count nothing.
  absl::Status CheckBatch(absl::Span<const int64_t> sizes) const;

  // Stores the blobs that match their digests, durably; a status for each, in order.
  // INVALID_ARGUMENT: a blob does not match or is too large.
  std::vector<absl::Status> Put(absl::Span<const NewBlob> blobs);

  // Begins a blob that comes in pieces. INVALID_ARGUMENT: larger than the limit.
  absl::StatusOr<std::unique_ptr<BlobWriter>> NewWriter(const BlobId& id);

  // Passes the bytes from `offset` on, at most `limit` (0: all). NOT_FOUND: not there; DATA_LOSS:
  // it is damaged; OUT_OF_RANGE: the offset lies outside the blob; INVALID_ARGUMENT: a negative
  // limit.
  absl::Status Read(const BlobId& id, int64_t offset, int64_t limit, ByteSink sink);

  // The whole blob.
  absl::StatusOr<std::string> Get(const BlobId& id);

  // NOT_FOUND: no result is kept for the action, or a blob that it names is gone.
  absl::StatusOr<cas::ActionResult> GetActionResult(absl::string_view instance,
                                                    const BlobId& action);
  // INVALID_ARGUMENT: a digest in the result is malformed.
  absl::Status PutActionResult(absl::string_view instance, const BlobId& action,
                               const cas::ActionResult& result);

  // Drops the results that match, so that their actions are run anew; how many. `dry_run` drops
  // none. Between steps asks `go_on`, and stops with its error. One that is written again meanwhile
  // may go, or stay if it matches no more. INVALID_ARGUMENT: nothing is given, or a version without
  // a stage.
  absl::StatusOr<int64_t> ForgetResults(const ResultFilter& filter, bool dry_run,
                                        absl::FunctionRef<absl::Status()> go_on);

  // Reads every blob and compares it with its digest, which also finds what went wrong before the
  // database ever saw it. Calls `report` now and then, and at the end; it stops with the error that
  // `report` returns. Damaged blobs are marked: they are neither found nor served from then on;
  // with `delete_damaged`, they go.
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
