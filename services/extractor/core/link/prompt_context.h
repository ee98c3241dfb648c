#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_PROMPT_CONTEXT_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_PROMPT_CONTEXT_H_

#include <string>

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/closure.h"

namespace kernelmill::extractor {

// What a person needs to see above a kernel to write its body: whole lines of what its free names
// stand for, each name once.
//
//   the name is                        the context has
//   an import                          a line that imports this name alone; also where the import
//                                      stands in a try or if, or is the source's own and was not
//                                      taken into the module
//   a function, its own file's or      # def f(x, y): the first line of its docstring
//   one that was taken in
//   a member of a module of the        the same under the name that the kernel uses:
//   source                             # def m.f(x, y): ...
//   a class                            # class C(Base): ... and, indented, its fields and methods'
//                                      signatures
//   a constant                         # N = 64; where it is long # N = ...
//   brought by a wildcard import,      that import
//   perhaps
//   nothing that was read              # Defined elsewhere: a, b
//
// Imports come first, as the file has them in order, then after a blank line the comments in the
// order of the names' definitions. What helpers need is not shown. Beyond kMaxContextBytes names
// are those that are defined elsewhere.
constexpr size_t kMaxContextBytes = 16u << 10;

std::string PromptContext(const SourceScope& scope, const Closure& closure,
                          const v1::Kernel& kernel);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_PROMPT_CONTEXT_H_
