#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_DOTTED_NAME_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_DOTTED_NAME_H_

#include "absl/strings/string_view.h"

namespace kernelmill::validator {

// Of "triton.language.load": "load", and "triton".
absl::string_view LastPart(absl::string_view dotted);
absl::string_view FirstPart(absl::string_view dotted);

// Whether it is an access through a descriptor, which is cut at the tensor's bounds by the
// hardware.
bool IsDescriptorAccess(absl::string_view dotted);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_DOTTED_NAME_H_
