#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_SERVICE_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_SERVICE_H_

#include <memory>

namespace grpc {
class Service;
}

namespace kernelmill::deduplicator {

// Deduplication as a plain call (stages.proto). Holds no state; thread-safe.
std::unique_ptr<grpc::Service> NewDeduplicatorService();

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_SERVER_DEDUPLICATOR_SERVICE_H_
