#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_METHODS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_METHODS_H_

#include <string>
#include <vector>

#include "common/code/line_index.h"
#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/conditionals.h"
#include "services/extractor/core/cuda/declarations.h"
#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {

// A function in the text of a class that a module may leave out of it.
struct Method {
  std::string name;  // as in Words.mentioned
  ByteSpan span;     // its tokens
  ByteSpan lines;    // whole lines, with the comment above it and the blank lines below
};

// Finds the methods of a class that a module may leave out, in the order of the text: those that
// NeedsMention() and FindMethods() tell, if they have whole lines for themselves, no conditional
// cuts them, and no macro is defined in them.
std::vector<Method> FindSeparableMethods(const Code& code, const Brackets& brackets,
                                         const Conditionals& conditionals, const LineIndex& lines,
                                         const Declaration& type);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_METHODS_H_
