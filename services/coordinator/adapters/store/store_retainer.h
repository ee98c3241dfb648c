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

// What tells this coordinator's holds from those of others that use the same store: eight random
// hexadecimal digits, made once and kept in the file `owner` of its data folder, which must exist.
// DATA_LOSS: the file holds something else; errors of files.
absl::StatusOr<std::string> OwnerName(const std::string& data_dir);

// Holds in the kernelmill.v1.Store behind `channel`, in the name of `owner` (OwnerName). Calls are
// made once, with a deadline. List() is to be called first: it tells what a ReleaseDataset of an
// earlier run's has to release.
std::unique_ptr<Retainer> NewStoreRetainer(std::shared_ptr<grpc::Channel> channel,
                                           const std::string& owner);

// The same, with manifests read from `blobs`.
std::unique_ptr<Retainer> NewStoreRetainer(std::shared_ptr<grpc::Channel> channel,
                                           std::unique_ptr<cas::BlobStore> blobs,
                                           const std::string& owner);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_STORE_STORE_RETAINER_H_
