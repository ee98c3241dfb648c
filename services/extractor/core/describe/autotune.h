#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_AUTOTUNE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_AUTOTUNE_H_

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/describe/kernels.h"
#include "services/extractor/core/detect/functions.h"

namespace kernelmill::extractor {

// Sets the kernel's `autotune` and `heuristics` from its decorators.
//
// Autotune is the outermost of triton.autotune and of what is called with `configs=`, as
// repositories' own wrappers are. Its configurations are resolved where they stand there as a list
// of Config(...) calls with literal names: a name, a comprehension or a function's result is kept
// as it is written, since only running it would tell.
void AddTuning(const ParsedFile& file, const JitFunction& function, v1::Kernel& kernel);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_AUTOTUNE_H_
