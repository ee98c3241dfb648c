#ifndef KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_STORE_STORE_RETAINER_H_
#define KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_STORE_STORE_RETAINER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/cas/blob_store.h"
#include "services/coordinator/core/retention/retainer.h"

namespace grpc {
class Channel;
}

namespace kernelmill::coordinator {

// Makes a Retainer with holds in the kernelmill.v1.Store behind `channel`, for `owner`
// (RocksDbStateStore::OwnerName).
// Each call is made once, with a deadline. Call List() first: ReleaseDataset needs its result to
// release the holds of an earlier process.
std::unique_ptr<Retainer> NewStoreRetainer(std::shared_ptr<grpc::Channel> channel,
                                           const std::string& owner);

// The same, but reads manifests from `blobs`.
std::unique_ptr<Retainer> NewStoreRetainer(std::shared_ptr<grpc::Channel> channel,
                                           std::unique_ptr<cas::BlobStore> blobs,
                                           const std::string& owner);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_STORE_STORE_RETAINER_H_
