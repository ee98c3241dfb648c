#ifndef KERNELMILL_SERVICES_COMPILER_SERVER_LIMITED_COMPILER_H_
#define KERNELMILL_SERVICES_COMPILER_SERVER_LIMITED_COMPILER_H_

#include <memory>

#include "services/compiler/core/compiler.h"

namespace kernelmill::compiler {

// At most `at_once` calls of another run at a time, of all tasks and plain calls together; the rest
// wait. So a worker's slots are the kernels that it compiles at a time, whether these are of one
// task or of several: shards take long, and the last one would else have one slot. `compiler`
// outlives it.
std::unique_ptr<Compiler> NewLimitedCompiler(Compiler& compiler, int at_once);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_SERVER_LIMITED_COMPILER_H_
