#ifndef KERNELMILL_SERVICES_COMPILER_CORE_CUTILE_REFUSALS_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_CUTILE_REFUSALS_H_

#include "kernelmill/v1/compile.pb.h"

namespace kernelmill::compiler::cutile {

// Decides whether a refusal of a kernel is an error of the kernel. The first row that holds:
//
//   the sandbox, or the clock                               unknown, "sandbox", "clock"
//   the module's name is no kernel                          unknown, "function"
//   a package that is not installed was taken for a value   unknown, "import"
//   the same try compiles for another target                error: the target cannot
//   cuTile has no such function                             error
//   something of the signature was guessed                  unknown, "type:NAME" or
//                                                           "constexpr:NAME": the first that was
//   anything else                                           error
void JudgeRefusal(const v1::KernelSignature& signature, bool compiles_elsewhere,
                  v1::CompileResult& result);

}  // namespace kernelmill::compiler::cutile

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_CUTILE_REFUSALS_H_
