#ifndef KERNELMILL_COMMON_DSL_LAUNCHER_SYNTAX_H_
#define KERNELMILL_COMMON_DSL_LAUNCHER_SYNTAX_H_

#include <algorithm>

#include "common/code/lexer.h"
#include "common/dsl/languages.h"

namespace kernelmill::dsl {

// Returns the language of the text of a kernel's launcher. CUDA in a string of Python has a
// launcher in Python, unless that is a C++ function which launches it. `Kernel` is a v1::Kernel or
// a row of it.
template <typename Kernel>
code::Language GetLauncherSyntax(const Kernel& kernel, bool in_string) {
  const auto& launches = kernel.cuda().launches();
  const bool is_host = std::any_of(launches.begin(), launches.end(), [&kernel](const auto& launch) {
    return launch.host_first_line() == kernel.launcher().first_line();
  });
  return in_string && !is_host ? code::Language::kPython : GetSyntax(kernel.dsl());
}

}  // namespace kernelmill::dsl

#endif  // KERNELMILL_COMMON_DSL_LAUNCHER_SYNTAX_H_
