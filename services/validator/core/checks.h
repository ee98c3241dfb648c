#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_CHECKS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_CHECKS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::validator {

// The seven checks of the curation guide on a kernel's span. They look at code alone: what stands
// in a comment or a string passes no check. Calls count as the extractor resolved them
// (Kernel.calls) or as they are written.
v1::Checks CheckKernel(const v1::Kernel& kernel, bool license_allowed);

// The names of the checks, as the proto spells them, in its order.
const std::vector<std::string>& CheckNames();

// INVALID_ARGUMENT unless it is one of CheckNames().
absl::Status CheckIsKnown(absl::string_view check);

// Whether `checks` has the named one, which must be known.
bool Passes(const v1::Checks& checks, absl::string_view check);

// Whether a kernel can be asked to pass the check. Device functions are called with pointers and
// masks made elsewhere; kernels that are neither Triton's nor Gluon's have other means than these.
bool Applies(absl::string_view check, const v1::Kernel& kernel);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_CHECKS_H_
