#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_SIMILAR_SEARCH_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_SIMILAR_SEARCH_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "kernelmill/v1/stages.pb.h"

namespace kernelmill::deduplicator {

// Answers Deduplicator.Similar from a dataset's blobs. Walks it once, a shard at a time, and then
// reads those shards again that hold what was found, or what that is a duplicate of. Kernels are
// signed as they are read: their shingles are no fewer bytes than their texts, and what the sign
// stage stored of them is under keys that the manifest does not have.
//
// CANCELLED: `cancelled` said so, which is asked at each shard; others as stages.proto says,
// and those of the store.
absl::StatusOr<v1::SimilarResponse> FindSimilar(cas::BlobStore& store,
                                                const v1::SimilarRequest& request,
                                                absl::FunctionRef<bool()> cancelled);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_SIMILAR_SEARCH_H_
