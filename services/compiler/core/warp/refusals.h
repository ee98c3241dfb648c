#ifndef KERNELMILL_SERVICES_COMPILER_CORE_WARP_REFUSALS_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_WARP_REFUSALS_H_

#include "kernelmill/v1/compile.pb.h"

namespace kernelmill::compiler::warp {

// Decides whether a refusal of a kernel is an error of the kernel. Nothing of its signature is
// guessed: a kernel of Warp says the types of its arguments. The first row that holds:
//
//   the sandbox, or the clock                              unknown, "sandbox", "clock"
//   the module's name is no kernel                         unknown, "function"
//   an argument takes any type, and the module has no      unknown, "type:NAME"
//     overload
//   a package that is not installed was taken for a value  unknown, "import"
//   it needs MathDx, which the toolchain is used without   unknown, "library"
//   anything else                                          error
void JudgeRefusal(v1::CompileResult& result);

}  // namespace kernelmill::compiler::warp

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_WARP_REFUSALS_H_
