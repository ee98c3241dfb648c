#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_SERVICE_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_SERVICE_H_

#include <memory>

#include "common/cas/blob_store.h"
#include "common/rpc/limited_calls.h"

namespace grpc {
class Service;
}

namespace kernelmill::deduplicator {

// Makes the service kernelmill.v1.Deduplicator (stages.proto): deduplication of a few kernels, and
// search in the datasets of `store`, as plain calls. It holds no state and is thread-safe. `store`
// must outlive it. Calls above the limits get RESOURCE_EXHAUSTED.
std::unique_ptr<grpc::Service> NewDeduplicatorService(cas::BlobStore& store,
                                                      const rpc::CallLimits& limits = {});

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_SERVICE_H_
