#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_USES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_USES_H_

#include <string>
#include <vector>

#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/functions.h"
#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {

// Names before parentheses in a body, with the namespaces that they are written with: f(...),
// n::g<T>(...), method(...) of x.method(...). Not those of variables that are declared so, as in
// `T x(1)`. Sorted, each once.
std::vector<std::string> CalledNames(const Code& code, const Brackets& brackets,
                                     const Function& function);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_USES_H_
