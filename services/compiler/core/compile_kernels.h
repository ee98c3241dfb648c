#ifndef KERNELMILL_SERVICES_COMPILER_CORE_COMPILE_KERNELS_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_COMPILE_KERNELS_H_

#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/compiler/core/compiler.h"

namespace kernelmill::compiler {

struct CompiledKernels {
  v1::CompiledShard compiled;
  std::vector<v1::IrText> texts;  // sorted by kernel, then as the results are
};

// Returns the results of a shard's kernels that are quarantined for `reason`: unknown for each
// toolchain of their language and each of its targets. Kernels that are not compiled at all have
// their own reason, as always.
CompiledKernels QuarantinedKernels(const v1::KernelShard& shard, const v1::CompileParams& params,
                                   const std::string& reason);

// Compiles a shard's kernels (toolchains::NotAttempted says which) with each toolchain of their
// language for each target that it has, by signatures inferred from their records, and says what
// came of each (failures.h). `workers` kernels at a time; the outcome does not depend on how many.
//
// Errors: the compiler's. INVALID_ARGUMENT: no toolchain or no target. CANCELLED: `stop` was
// requested.
absl::StatusOr<CompiledKernels> CompileKernels(const v1::KernelShard& shard,
                                               const v1::CompileParams& params, int workers,
                                               Compiler& compiler,
                                               const std::stop_token& stop = {});

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_COMPILE_KERNELS_H_
