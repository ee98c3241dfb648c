#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_MASK_COVERAGE_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_MASK_COVERAGE_H_

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/validator/core/quality/code_facts.h"

namespace kernelmill::validator {

// Whether the dotted name is an access through a descriptor, which the hardware cuts at the
// tensor's bounds.
bool IsDescriptorAccess(absl::string_view dotted);

// Whether a call of Triton's or Gluon's language, as written, loads or stores at its own bounds: it
// is given a mask, by keyword or in its place, or a boundary_check.
bool IsMasked(const Call& call);

// How many loads and stores there are in the code, and how many of each are masked. Atomics count
// as stores; accesses through tensor descriptors, which the hardware cuts at the bounds, as masked.
v1::MaskCoverage CoverMasks(const CodeFacts& code);

// Whether code of C compares what it branches or loops on, which is how CUDA keeps in bounds.
bool IsGuarded(absl::string_view c_code);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_MASK_COVERAGE_H_
