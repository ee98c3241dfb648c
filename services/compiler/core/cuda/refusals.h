#ifndef KERNELMILL_SERVICES_COMPILER_CORE_CUDA_REFUSALS_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_CUDA_REFUSALS_H_

#include "absl/strings/string_view.h"
#include "kernelmill/v1/compile.pb.h"

namespace kernelmill::compiler::cuda {

// The result of a C++ module that the compiler refuses without any template argument. The first row
// that holds:
//
//   it took too long by the clock                              unknown, "import:clock"
//   the sandbox refused something                              unknown, "import:sandbox"
//   it is out of bounds: memory, time                          error, stage "limit"
//   a header is not there                                      unknown, "header:NAME"
//   #error                                                     unknown, "macro": a build defines more
//   std has no such member                                     unknown, "name:std::NAME"
//   a name is not known that is of the runtime, the driver or  unknown, "name:NAME"
//     a macro, or that the module has in a branch of #if
//   a namespace, or a name in one, is not known               unknown, "name"
//   code of the host: exceptions, host functions               unknown, "host"
//   anything else                                              error
v1::CompileResult JudgeReading(absl::string_view module, const v1::ModuleImport& failed);

// Decides whether a refusal of a kernel with its template arguments is an error of the kernel. The
// first row that holds:
//
//   the sandbox, or the clock                                  unknown, "sandbox", "clock"
//   a row of JudgeReading that is unknown                      as there
//   the same try compiles for another target                   error: the target cannot
//   the assembler has no such instruction for the target       error
//   it calls a function that is not at hand                    unknown, "library"
//   an argument or a macro was guessed                         unknown, "template:NAME"
//   anything else                                              error
void JudgeRefusal(absl::string_view module, const v1::KernelSignature& signature,
                  bool compiles_elsewhere, v1::CompileResult& result);

}  // namespace kernelmill::compiler::cuda

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_CUDA_REFUSALS_H_
