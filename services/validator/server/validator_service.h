#ifndef KERNELMILL_SERVICES_VALIDATOR_SERVER_VALIDATOR_SERVICE_H_
#define KERNELMILL_SERVICES_VALIDATOR_SERVER_VALIDATOR_SERVICE_H_

#include <memory>

#include "common/rpc/limited_calls.h"

namespace grpc {
class Service;
}

namespace kernelmill::validator {

// Returns the service v1::Validator. Thread-safe. INVALID_ARGUMENT: a kernel's file is missing from
// the request, or the quality policy names an unknown check.
std::unique_ptr<grpc::Service> NewValidatorService(const rpc::CallLimits& limits = {});

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_SERVER_VALIDATOR_SERVICE_H_
