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

// Returns why a kernel is not compiled at all; empty if it is. The first of
//
//   file                  a whole file
//   dsl:cuda, dsl:pallas  no toolchain of the job has its language (common/toolchains)
//   target                none that has it compiles for a target of the job
//   dialect               only another build of Triton compiles it: dsl::FindDialect
//   template              a source that is filled in later
//   role:device           other kernels call it; it is never launched
//   parse_error           it has a syntax error
//   not_self_contained    its module needs other files
std::string NotAttempted(const v1::Kernel& kernel, const v1::CompileParams& params);

// Returns the results of a shard's kernels that are quarantined for `reason`: unknown for each
// toolchain of their language and each of its targets. Kernels that are not compiled at all have
// their own reason, as always.
CompiledKernels QuarantinedKernels(const v1::KernelShard& shard, const v1::CompileParams& params,
                                   const std::string& reason);

// Compiles a shard's kernels with each toolchain of their language for each target that it has, by
// signatures inferred from their records, and says what came of each (failures.h). `workers`
// kernels at a time; the outcome does not depend on how many.
//
// Errors: the compiler's. INVALID_ARGUMENT: no toolchain or no target. CANCELLED: `stop` was
// requested.
absl::StatusOr<CompiledKernels> CompileKernels(const v1::KernelShard& shard,
                                               const v1::CompileParams& params, int workers,
                                               Compiler& compiler,
                                               const std::stop_token& stop = {});

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_COMPILE_KERNELS_H_
