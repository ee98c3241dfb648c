#ifndef KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_SERVICE_H_
#define KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_SERVICE_H_

#include <memory>

#include "common/rpc/limited_calls.h"
#include "services/compiler/core/compiler.h"

namespace grpc {
class Service;
}

namespace kernelmill::compiler {

// Serves v1::Compiler, `workers` kernels of a call at a time. Thread-safe; `compiler` outlives it.
// INVALID_ARGUMENT: more kernels than a
// call may have, or the policy names what is not pinned. FAILED_PRECONDITION: a toolchain is not
// installed here.
std::unique_ptr<grpc::Service> NewCompilerService(Compiler& compiler,
                                                  const rpc::CallLimits& limits = {},
                                                  int workers = 1);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_SERVICE_H_
