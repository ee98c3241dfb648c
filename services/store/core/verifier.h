#ifndef KERNELMILL_SERVICES_STORE_CORE_VERIFIER_H_
#define KERNELMILL_SERVICES_STORE_CORE_VERIFIER_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "services/store/core/blob_id.h"
#include "services/store/core/keeper.h"

namespace kernelmill::store {

// How far a verification is.
struct Verified {
  int64_t blobs = 0;
  int64_t bytes = 0;
  std::vector<BlobId> damaged;  // in the last report alone
  bool finished = false;
};

// Reads every blob and compares it with its digest, which also finds what went wrong before the
// database ever saw it. Calls `report` now and then, and at the end; it stops with the error that
// `report` returns. Damaged blobs are marked: they are neither found nor served from then on; with
// `drop`, they go. UNAVAILABLE: an older database is still being read.
absl::Status VerifyBlobs(Keeper& keeper, bool drop,
                         absl::FunctionRef<absl::Status(const Verified&)> report);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_VERIFIER_H_
