#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_CHECKS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_CHECKS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/validator/core/quality/code_facts.h"

namespace kernelmill::validator {

// What the kernel's module names and calls: the kernel with its closure. Before link, which makes
// the module: the kernel's body.
CodeFacts ReadClosure(const v1::Kernel& kernel);

// The checks that the kernel's code decides: all but license_permissive, handwritten, readable, and
// those that compilers answer (compile_checks.h).
// They look at code alone: what stands in a comment or a string passes no check. Calls count as the
// extractor resolved them (Kernel.calls) or as they are written.
v1::Checks CheckKernel(const v1::Kernel& kernel, const CodeFacts& closure);

// The names of the checks, as the proto spells them, in its order.
const std::vector<std::string>& CheckNames();

// INVALID_ARGUMENT unless it is one of CheckNames().
absl::Status CheckIsKnown(absl::string_view check);

// Whether `checks` has the named one, which must be known.
bool Passes(const v1::Checks& checks, absl::string_view check);

// Why the kernel cannot be asked to pass the check, or empty where it can. Device functions are
// called with pointers and masks made elsewhere; kernels that are neither Triton's nor Gluon's have
// other means than these.
absl::string_view Exemption(absl::string_view check, const v1::Kernel& kernel);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_CHECKS_H_
