// The store as a client in the same process sees it: BlobStore's contract without calls. Batches
// are those that a call would have, since one is one durable write.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "services/store/core/blob_id.h"
#include "services/store/core/content_store.h"
#include "services/store/server/services.h"

namespace kernelmill::store {
namespace {

constexpr char kInstance[] = "";

class LocalBlobStore final : public cas::BlobStore {
 public:
  explicit LocalBlobStore(ContentStore* store) : store_(store) {}

  absl::StatusOr<std::vector<cas::Digest>> FindMissing(
      const std::vector<cas::Digest>& digests) override {
    std::vector<BlobId> ids;
    for (const cas::Digest& digest : digests) {
      ASSIGN_OR_RETURN(ids.emplace_back(), ToBlobId(digest));
    }
    ASSIGN_OR_RETURN(const std::vector<bool> there, store_->Contains(ids));
    std::vector<cas::Digest> missing;
    for (size_t i = 0; i < digests.size(); ++i) {
      if (!there[i]) missing.push_back(digests[i]);
    }
    return missing;
  }

  absl::Status Put(const std::vector<cas::Blob>& blobs) override {
    std::vector<NewBlob> batch;
    int64_t bytes = 0;
    for (const cas::Blob& blob : blobs) {
      ASSIGN_OR_RETURN(const BlobId id, ToBlobId(blob.digest));
      const auto size = static_cast<int64_t>(blob.bytes.size());
      if (size > store_->limits().max_batch_bytes) {
        RETURN_IF_ERROR(PutLarge(id, blob.bytes));
        continue;
      }
      if (bytes + size > store_->limits().max_batch_bytes) {
        RETURN_IF_ERROR(PutBatch(std::exchange(batch, {})));
        bytes = 0;
      }
      batch.push_back({id, blob.bytes});
      bytes += size;
    }
    return PutBatch(batch);
  }

  absl::StatusOr<std::vector<std::string>> Get(const std::vector<cas::Digest>& digests) override {
    std::vector<std::string> blobs;
    blobs.reserve(digests.size());
    for (const cas::Digest& digest : digests) {
      ASSIGN_OR_RETURN(const BlobId id, ToBlobId(digest));
      ASSIGN_OR_RETURN(blobs.emplace_back(), store_->Get(id));
      if (!cas::SameDigest(cas::ComputeDigest(blobs.back()), digest)) {
        return absl::DataLossError(
            absl::StrCat(cas::ToString(digest), ": the content does not match"));
      }
    }
    return blobs;
  }

  absl::StatusOr<cas::ActionResult> GetActionResult(const cas::Digest& action) override {
    ASSIGN_OR_RETURN(const BlobId id, ToBlobId(action));
    return store_->GetActionResult(kInstance, id);
  }

  absl::Status PutActionResult(const cas::Digest& action,
                               const cas::ActionResult& result) override {
    ASSIGN_OR_RETURN(const BlobId id, ToBlobId(action));
    return store_->PutActionResult(kInstance, id, result);
  }

 private:
  absl::Status PutBatch(const std::vector<NewBlob>& batch) {
    for (const absl::Status& status : store_->Put(batch)) RETURN_IF_ERROR(status);
    return absl::OkStatus();
  }

  absl::Status PutLarge(const BlobId& id, const std::string& bytes) {
    ASSIGN_OR_RETURN(const std::unique_ptr<BlobWriter> writer, store_->NewWriter(id));
    RETURN_IF_ERROR(writer->Append(bytes));
    return writer->Finish();
  }

  ContentStore* const store_;
};

}  // namespace

std::unique_ptr<cas::BlobStore> NewLocalBlobStore(ContentStore* store) {
  return std::make_unique<LocalBlobStore>(store);
}

}  // namespace kernelmill::store
