#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_COMPILE_CHECKS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_COMPILE_CHECKS_H_

#include "absl/strings/string_view.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::validator {

// The outcome of a check that compilers answer ("compiles" or "imports", job::IsOfCompilers):
//
//             passes                          fails
//   compiles  one compiler took the kernel    some refused it, and none took it
//             for one target
//   imports   one compiler's Python loaded    some could not for the module's own sake, and none
//             its module                      could
//
// and exempt otherwise: where nothing was tried, and where all that can be told is what was
// missing to tell.
v1::RuleResult CompilerRule(absl::string_view check, const v1::CompiledKernel& compiled);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_COMPILE_CHECKS_H_
