#ifndef KERNELMILL_SERVICES_COMPILER_CORE_FAILURES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_FAILURES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kernelmill/v1/compile.pb.h"

namespace kernelmill::compiler {

// Decides whether a compiler's refusal tells something about the kernel, or about the guessed
// signature. An error is the kernel's as far as the message tells; everything else is unknown. The
// first row that holds decides:
//
//   refusal                                                   result
//   no value for a constexpr could be computed                unknown, "constexpr:NAME"
//   the module's name is no kernel                            unknown, "function"
//   the sandbox refused what it did                           unknown, "sandbox"
//   it took too long by the clock, perhaps the machine's      unknown, "clock"
//   the same try compiles for another target                  error: the target cannot
//   another launch may not come to the line: it is under a    unknown, as for guesses below
//     condition of what MayDiffer (rules.h), or of a local
//     name
//   the assembler has no such instruction for the target      error
//   it calls a function of a library that is not at hand      unknown, "library"
//   Triton's passes destroy what is still in use              error
//   no signature changes it (NoSignatureHelps): Triton has    error
//     no such function or syntax, a global is no constexpr;
//     but not where it speaks of a tuple that was guessed
//   a name is not defined, and no constexpr was guessed (it   error
//     may be bound under a flag alone) or nothing binds it
//   it speaks of shapes, and no constexpr nor the block of    error
//     a descriptor was guessed
//   something of the signature was guessed (rules.h)          unknown, "type:NAME" or
//                                                               "constexpr:NAME"
//   anything else                                             error
//
// The name is that of the argument in the message, else of the least certain one: of a constexpr if
// the message is about shapes. `module` is the kernel's.
void JudgeFailure(absl::string_view module, const v1::KernelSignature& signature,
                  bool compiles_elsewhere, v1::CompileResult& result);

// The result of a kernel whose module could not be loaded. `own`: words of the compiler's package
// in an error. The first row that holds:
//
//   the sandbox refused what it does                          unknown, "import:sandbox"
//   it took too long by the clock, perhaps the machine's      unknown, "import:clock"
//   it is out of bounds: memory, time, files                  error, stage "limit"
//   something is not there that is no part of the package,    unknown, "import"
//     or its stand-in was taken for a value
//   a device, a driver or a file is asked for                 unknown, "import:device"
//   anything else: the package lacks it, SyntaxError          error
v1::CompileResult JudgeImport(const v1::ModuleImport& failed,
                              absl::Span<const absl::string_view> own);

// Returns whether a frontend's message is the kernel's own fault, whatever its signature.
bool NoSignatureHelps(absl::string_view message);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_FAILURES_H_
