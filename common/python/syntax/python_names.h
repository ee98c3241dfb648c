#ifndef KERNELMILL_COMMON_PYTHON_SYNTAX_PYTHON_NAMES_H_
#define KERNELMILL_COMMON_PYTHON_SYNTAX_PYTHON_NAMES_H_

#include "absl/strings/string_view.h"

namespace kernelmill::python {

// Whether every module of CPython 3.11 has the name without binding it.
bool IsBuiltin(absl::string_view name);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_SYNTAX_PYTHON_NAMES_H_
