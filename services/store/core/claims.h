#ifndef KERNELMILL_SERVICES_STORE_CORE_CLAIMS_H_
#define KERNELMILL_SERVICES_STORE_CORE_CLAIMS_H_

#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "services/store/core/blob_id.h"

namespace kernelmill::store {

// Who is writing which blob: two writers of one blob take turns, so that the second finds what the
// first has stored. Thread-safe.
class Claims {
 public:
  // Holds a set of blobs; taken all at once, so that claims never wait for each other in a circle.
  class Claim {
   public:
    // Waits until no other claim has any of them.
    Claim(Claims* claims, absl::Span<const BlobId> ids);
    ~Claim();
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

   private:
    Claims* const claims_;
    std::vector<BlobId> ids_;
  };

 private:
  bool AnyClaimed(absl::Span<const BlobId> ids) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  absl::CondVar released_;
  absl::flat_hash_set<BlobId, BlobIdHash> claimed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_CLAIMS_H_
