#ifndef KERNELMILL_COMMON_DSL_LIBRARIES_H_
#define KERNELMILL_COMMON_DSL_LIBRARIES_H_

#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::dsl {

// Returns the libraries of CUDA that a C++ text is written with: "composable_kernel", "cutlass"
// (with CuTe) and "thunderkittens". The text names a namespace of the library, outside comments.
// Sorted.
std::vector<absl::string_view> FindLibraries(absl::string_view text);

}  // namespace kernelmill::dsl

#endif  // KERNELMILL_COMMON_DSL_LIBRARIES_H_
