#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_PROMPT_CONTEXT_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_PROMPT_CONTEXT_H_

#include <string>

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/closure.h"

namespace kernelmill::extractor {

// clang-format off
// Returns what a person needs to see above a kernel to write its body: whole lines that tell what
// its free names mean, each name once.
//
//   the name is                        the context has
//   an import                          a line that imports this name only; also if the import is in
//                                      a try or if, or is the source's own and was not taken into
//                                      the module
//   a function of the kernel's file,   # def f(x, y): the first line of its docstring
//   or one taken into the module
//   a member of a module of the        the same under the name that the kernel uses:
//   source                             # def m.f(x, y): ...
//   a class                            # class C(Base): ... and, indented, its fields and methods'
//                                      signatures
//   a constant                         # N = 64; if that is long, # N = ...
//   perhaps from a wildcard import     that import
//   not in any file that was read      # Defined elsewhere: a, b
//
// Imports come first, in the order of the file; then, after a blank line, the comments in the order
// of the names' definitions. Names that helpers use are not shown. Once kMaxContextBytes are
// reached, all further names are listed as defined elsewhere.
// clang-format on
constexpr size_t kMaxContextBytes = 16u << 10;

std::string PromptContext(const SourceScope& scope, const Closure& closure,
                          const v1::Kernel& kernel);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_PROMPT_CONTEXT_H_
