#ifndef KERNELMILL_SERVICES_COMPILER_CORE_REFUSALS_HARNESS_WORDS_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_REFUSALS_HARNESS_WORDS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/compile.pb.h"

// The words of the harness (services/compiler/adapters/toolchain/python) in messages and stages.
// They say what a machine or a module lacks, and nothing about the kernel.
namespace kernelmill::compiler {

// Returns whether a package that is not installed was taken for a value (absent.py).
bool IsAboutStandIn(absl::string_view message);

// Returns what a refusal says is missing, if the harness made it; else empty. The first row that
// holds:
//
//   the module's name is no kernel                         "function"
//   the sandbox, or the clock                              "sandbox", "clock"
//   nothing tells the type of an argument                  "type:NAME"
//   the value of a constant could not be computed          "constexpr:NAME"
//   a package that is not installed was taken for a value  "import"
std::string FindMissing(const v1::CompileResult& refused);

void SetUnknown(std::string missing, v1::CompileResult& result);

// Judges a module that could not be loaded by the stage before its error. Returns whether that
// decided:
//
//   the sandbox refused what it does                       unknown, "import:sandbox"
//   it took too long by the clock, perhaps the machine's   unknown, "import:clock"
//   it is out of bounds: memory, time, files               error, stage "limit"
bool JudgeStageOfImport(absl::string_view error, v1::CompileResult& result);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_REFUSALS_HARNESS_WORDS_H_
