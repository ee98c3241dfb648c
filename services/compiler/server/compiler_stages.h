#ifndef KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_STAGES_H_
#define KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_STAGES_H_

#include <memory>
#include <vector>

#include "common/worker/stage.h"
#include "services/compiler/core/compiler.h"

namespace kernelmill::compiler {

// The stages that this service runs: compile, by `workers` threads for each task: what bounds all
// of them together is the compiler's (limited_compiler.h). `compiler` outlives them.
std::vector<std::unique_ptr<worker::Stage>> NewCompilerStages(Compiler& compiler, int workers = 1);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_STAGES_H_
