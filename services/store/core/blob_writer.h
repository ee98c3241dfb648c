#ifndef KERNELMILL_SERVICES_STORE_CORE_BLOB_WRITER_H_
#define KERNELMILL_SERVICES_STORE_CORE_BLOB_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "services/store/core/blob_id.h"
#include "services/store/core/keeper.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// Takes one blob in pieces and stores it if the pieces add up to its digest. Holds at most
// kChunkBytes in memory. Not thread-safe; after an error it is of no further use. `keeper` must
// outlive it.
class BlobWriter {
 public:
  BlobWriter(Keeper* keeper, const BlobId& id) : keeper_(keeper), id_(id) {}

  // INVALID_ARGUMENT: more bytes than the digest says.
  absl::Status Append(absl::string_view bytes);
  // The blob is durable once this is OK. INVALID_ARGUMENT: the bytes are not those of the digest.
  absl::Status Finish();

 private:
  absl::Status FlushChunk();

  Keeper* const keeper_;
  const BlobId id_;
  Sha256Stream hash_;
  int64_t received_ = 0;
  std::string chunk_;
  std::unique_ptr<StagedBlob> staged_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_BLOB_WRITER_H_
