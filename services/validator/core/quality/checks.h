#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_CHECKS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_CHECKS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/validator/core/quality/code_facts.h"

namespace kernelmill::validator {

// Returns the outcome of a check that compilers answer ("compiles" or "imports",
// job::IsCompilerCheck):
//
//             passes                          fails
//   compiles  one compiler compiled it        some refused it, and none compiled it
//             for one target
//   imports   one compiler's Python loaded    some could not because of the module itself, and none
//             its module                      could
//
// and exempt otherwise: if nothing was tried, or if all that is known is what was missing to tell.
v1::RuleResult CompilerRule(absl::string_view check, const v1::CompiledKernel& compiled);

// Returns what the kernel's module names and calls: the kernel with everything that it uses. Before
// the link stage, which makes the module: the kernel's body.
CodeFacts ReadClosure(const v1::Kernel& kernel);

// Returns the checks that the kernel's code decides: all except license_permissive, handwritten,
// readable, and those that compilers answer. Only code counts: a word in a comment or a string
// passes no check. Calls count as the extractor resolved them (Kernel.calls) or as they are
// written.
v1::Checks CheckKernel(const v1::Kernel& kernel, const CodeFacts& closure);

// Returns the names of the checks, as the proto spells them, in its order.
const std::vector<std::string>& CheckNames();

// Checks that the name is one of CheckNames(). INVALID_ARGUMENT if not.
absl::Status CheckIsKnown(absl::string_view check);

// Returns whether the kernel passed the named check, which must be known.
bool Passes(const v1::Checks& checks, absl::string_view check);

// Returns why the check does not apply to the kernel; empty if it applies. Device functions get
// pointers and masks that are made elsewhere, and kernels that are neither Triton nor Gluon use
// other means.
absl::string_view Exemption(absl::string_view check, const v1::Kernel& kernel);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_CHECKS_H_
