#ifndef KERNELMILL_SERVICES_STORE_CORE_COMPLETENESS_H_
#define KERNELMILL_SERVICES_STORE_CORE_COMPLETENESS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "services/store/core/blob_id.h"

namespace kernelmill::store {

// The blobs that a result points to: output files, the trees and roots of output directories,
// stdout and stderr. A result is worth an answer only while the store holds all of them.
// INVALID_ARGUMENT: one of its digests is malformed.
absl::StatusOr<std::vector<BlobId>> NamedBlobs(const cas::ActionResult& result);

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_COMPLETENESS_H_
