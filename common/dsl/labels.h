#ifndef KERNELMILL_COMMON_DSL_LABELS_H_
#define KERNELMILL_COMMON_DSL_LABELS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::dsl {

// The words that label kernels. The validator gives them, and job files name them in their
// policies.

// Returns the purposes that a kernel can have (Verdict.kind).
const std::vector<absl::string_view>& KernelKinds();

// Returns the vendors whose hardware a kernel can be written for (Verdict.target). The first is
// "generic".
const std::vector<absl::string_view>& KernelTargets();

// Returns the name of a target for people: "Ascend NPUs". Empty for "generic" and for no target.
std::string HardwareName(absl::string_view target);

}  // namespace kernelmill::dsl

#endif  // KERNELMILL_COMMON_DSL_LABELS_H_
