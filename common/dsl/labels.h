#ifndef KERNELMILL_COMMON_DSL_LABELS_H_
#define KERNELMILL_COMMON_DSL_LABELS_H_

#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::dsl {

// The words that label kernels: the validator gives them, job files name them in their policies.

// What a kernel is there for (Verdict.kind).
const std::vector<absl::string_view>& KernelKinds();

// Whose hardware it is written for (Verdict.target); the first is "generic".
const std::vector<absl::string_view>& KernelTargets();

}  // namespace kernelmill::dsl

#endif  // KERNELMILL_COMMON_DSL_LABELS_H_
