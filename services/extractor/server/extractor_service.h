#ifndef KERNELMILL_SERVICES_EXTRACTOR_SERVER_EXTRACTOR_SERVICE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_SERVER_EXTRACTOR_SERVICE_H_

#include <memory>

#include "common/rpc/limited_calls.h"

namespace grpc {
class Service;
}

namespace kernelmill::extractor {

// kernelmill.v1.Extractor: extraction and linking as one plain call. Thread-safe.
std::unique_ptr<grpc::Service> NewExtractorService(const rpc::CallLimits& limits = {});

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_SERVER_EXTRACTOR_SERVICE_H_
