#ifndef KERNELMILL_SERVICES_STORE_CORE_STORAGE_H_
#define KERNELMILL_SERVICES_STORE_CORE_STORAGE_H_

#include <cstdint>
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

// A blob whose bytes were checked against its id. Borrows the bytes.
struct CheckedBlob {
  BlobId id;
  absl::string_view bytes;
};

// A blob larger than kChunkBytes on its way in: invisible until Commit. Not thread-safe. What was
// not committed is dropped with the object, or by the next opening of the store after a crash.
class StagedBlob {
 public:
  virtual ~StagedBlob() = default;
  // The next kChunkBytes; only the last chunk may be shorter.
  virtual absl::Status Append(absl::string_view chunk) = 0;
  // Makes the blob visible, and durable, under `id`, whose hash the caller has checked.
  virtual absl::Status Commit(const BlobId& id) = 0;
};

// Where blobs and action results are kept: the port that the adapters implement. Thread-safe; must
// outlive its StagedBlobs. An OK for a write means that it survives the loss of power.
//
// Errors: RESOURCE_EXHAUSTED: no room on the disk; DATA_LOSS: stored bytes are damaged;
// UNAVAILABLE: the disk fails.
class Storage {
 public:
  virtual ~Storage() = default;

  // For each id whether it is held, with that size.
  virtual absl::StatusOr<std::vector<bool>> Contains(absl::Span<const BlobId> ids) = 0;
  // Keeps all blobs, each at most kChunkBytes, or none.
  virtual absl::Status Put(absl::Span<const CheckedBlob> blobs) = 0;
  virtual absl::StatusOr<std::unique_ptr<StagedBlob>> Stage() = 0;
  // Passes `length` bytes from `offset` on, which lie within the blob. NOT_FOUND: not held.
  virtual absl::Status Read(const BlobId& id, int64_t offset, int64_t length, ByteSink sink) = 0;

  // The serialized result of an action. NOT_FOUND: none is kept.
  virtual absl::StatusOr<std::string> GetResult(absl::string_view instance,
                                                const BlobId& action) = 0;
  virtual absl::Status PutResult(absl::string_view instance, const BlobId& action,
                                 absl::string_view result) = 0;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_STORAGE_H_
