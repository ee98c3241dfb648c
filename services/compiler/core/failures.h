#ifndef KERNELMILL_SERVICES_COMPILER_CORE_FAILURES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_FAILURES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/compile.pb.h"

namespace kernelmill::compiler {

// Whether a compiler's refusal says something of the kernel, or of what it was guessed to be called
// with. An error is the kernel's as far as can be told; all else is unknown. The first row that
// holds decides:
//
//   what                                                         is
//   the module could not be loaded
//     a module, or a name of one that is no part of Triton's     unknown, "import:NAME"
//     language, is not there: torch and the like are stand-ins
//     a device, a driver or a file is asked for                  unknown, "import:device"
//     anything else: what of Triton's is not there, SyntaxError  error
//   a constexpr's value could not be computed                    unknown, "constexpr:NAME"
//   the same try compiles for another target of the toolchain    error: it is the target that
//   cannot no signature changes it (NoSignatureHelps): a name that is   error
//     not defined, a function that Triton has not, syntax that
//     it does not take, a global that is no constexpr
//   something of the signature was guessed (rules.h)             unknown, "type:NAME" or
//   "constexpr:NAME" what types or shapes are is at fault, which even what was    unknown, likewise
//     read or told may get wrong in part (a tensor's dtype)
//   anything else                                                error
//
// The name is that of an argument that the message speaks of, else of the least certain one.
void JudgeFailure(const v1::KernelSignature& signature, bool compiles_elsewhere,
                  v1::CompileResult& result);

// The result of a kernel whose module could not be loaded.
v1::CompileResult JudgeImport(const v1::ModuleImport& failed);

// Whether a frontend's message is the kernel's own fault, whatever it is called with.
bool NoSignatureHelps(absl::string_view message);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_FAILURES_H_
