#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_TENSOR_USES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_TENSOR_USES_H_

#include "absl/strings/string_view.h"
#include "common/python/syntax/functions.h"

namespace kernelmill::compiler {

using python::Function;

// How a function of a language whose tensors know their shapes uses a parameter.
struct TensorUse {
  bool is_tensor = false;  // it is indexed, or its members are read
  // The number of dimensions: x[i, j], m, n = x.shape; the length, for a tuple. 0: nothing tells.
  int exact = 0;
  int at_least = 0;  // x.shape[2], cute.size(x, mode=[2])
};

TensorUse FindUse(const Function& function, absl::string_view name);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_TENSOR_USES_H_
