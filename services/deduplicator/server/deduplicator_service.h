#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_SERVICE_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_SERVICE_H_

#include <memory>

#include "common/cas/blob_store.h"
#include "common/rpc/limited_calls.h"

namespace grpc {
class Service;
}

namespace kernelmill::deduplicator {

// Deduplication, and search in the datasets of `store`, as plain calls (stages.proto). Holds no
// state; thread-safe.
std::unique_ptr<grpc::Service> NewDeduplicatorService(cas::BlobStore& store,
                                                      const rpc::CallLimits& limits = {});

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_SERVICE_H_
