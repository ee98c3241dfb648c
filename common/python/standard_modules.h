#ifndef KERNELMILL_COMMON_PYTHON_STANDARD_MODULES_H_
#define KERNELMILL_COMMON_PYTHON_STANDARD_MODULES_H_

#include "absl/strings/string_view.h"

namespace kernelmill::python {

// Whether CPython 3.11's standard library has a top-level module of the name.
bool IsStandardModule(absl::string_view name);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_STANDARD_MODULES_H_
