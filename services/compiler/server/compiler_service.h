#ifndef KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_SERVICE_H_
#define KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_SERVICE_H_

#include <memory>

#include "common/rpc/limited_calls.h"
#include "services/compiler/core/compiler.h"

namespace grpc {
class Service;
}

namespace kernelmill::compiler {

// Makes the service v1::Compiler, which compiles `workers` kernels of a call at a time.
// Thread-safe. `compiler` must outlive it. Calls return INVALID_ARGUMENT for more kernels than a
// call may have, or if the policy names something that is not pinned; FAILED_PRECONDITION if a
// toolchain is not installed here; RESOURCE_EXHAUSTED above the limits or for too large a response.
std::unique_ptr<grpc::Service> NewCompilerService(Compiler& compiler,
                                                  const rpc::CallLimits& limits = {},
                                                  int workers = 1);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_SERVICE_H_
