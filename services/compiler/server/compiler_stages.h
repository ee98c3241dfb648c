#ifndef KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_STAGES_H_
#define KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_STAGES_H_

#include <memory>
#include <vector>

#include "common/worker/stage.h"
#include "services/compiler/core/compiler.h"

namespace kernelmill::compiler {

// Makes the stages that this service runs: compile, with `workers` threads for each task. Use
// NewLimitedCompiler() to bound all tasks together. `compiler` must outlive the stages, which are
// thread-safe.
std::vector<std::unique_ptr<worker::Stage>> NewCompilerStages(Compiler& compiler, int workers = 1);

// Makes a compiler that passes at most `at_once` calls at a time on to `compiler`; other calls
// wait. Share it among all tasks and plain calls: a worker's slots are then the kernels that it
// compiles at a time, whether one task has them or several. Otherwise the last shard of a job,
// which takes long, would use only one slot. `compiler` must outlive it. Thread-safe.
std::unique_ptr<Compiler> NewLimitedCompiler(Compiler& compiler, int at_once);

// Makes a compiler that passes calls on to `compiler`, times them, and counts those that fail.
// `compiler` must outlive it. Thread-safe.
std::unique_ptr<Compiler> NewTimedCompiler(Compiler& compiler);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_SERVER_COMPILER_STAGES_H_
