#ifndef KERNELMILL_SERVICES_COMPILER_CORE_CUDA_HOST_ARGUMENTS_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_CUDA_HOST_ARGUMENTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::compiler::cuda {

// An argument that the host's text gives a template parameter.
struct HostArgument {
  std::string value;
  bool written;  // beside the kernel's name; else a name stands for it
};

// Returns for each of a kernel's first `count` template parameters the arguments that the host's
// text gives it, in the order of the text, each once. All mean the same in the kernel's module.
//
// The basic idea: the text is that of the launches, and of the function around the first one. An
// argument there is `k<..., argument>`, in a launch or where the function is named. A number, a
// flag, a known type, and a name that the module defines mean the same in the module. Other names
// are those of the host function, and stand for what it says: `constexpr int N = 4;`,
// `using V = Vec<float, 4>;`, or LAUNCH(64) for N of `#define LAUNCH(N) ... k<N>`. Names of its
// template parameters stand for nothing that is known.
std::vector<std::vector<HostArgument>> FindHostArguments(const v1::Kernel& kernel, size_t count);

}  // namespace kernelmill::compiler::cuda

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_CUDA_HOST_ARGUMENTS_H_
