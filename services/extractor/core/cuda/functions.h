#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_FUNCTIONS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_FUNCTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/launch_macros.h"
#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {

// A pair of brackets.
struct Enclosed {
  uint32_t open = kNoToken;
  uint32_t close = kNoToken;

  bool found() const { return open != kNoToken; }
};

// The definition of a function.
struct Function {
  uint32_t first = kNoToken;  // its template header, attributes or type, whichever comes first
  uint32_t body = kNoToken;   // '{'
  uint32_t last = kNoToken;   // '}'
  std::string name;           // "k", "operator()", "~C"
  std::string qualname;       // after the namespaces, classes and functions around it: n::C::k
  bool global = false;        // __global__
  bool device = false;        // __device__
  Enclosed parameters;
  std::vector<Enclosed> templates;  // each header's < >
  Enclosed launch_bounds;
  std::string found_by;  // the word that makes it a kernel: parallel_for, nd_item
  bool parse_error = false;
};

// A launch: name<<<...>>>(...), name<...><<<...>>>(...), or a call or macro that launches a kernel
// (launch_macros.h). A launched variable, as after `auto f = a ? k<1> : k<2>;`, gives a launch for
// each word of its value, since any of them may be the kernel. If such a word is a function of the
// text, there is a launch for each name that the function returns as well.
struct Launch {
  std::string name;  // the last part of the kernel's name
  uint32_t first = kNoToken;
  uint32_t last = kNoToken;
  uint32_t host = kNoToken;  // index among the hosts; kNoToken outside all functions
};

struct Findings {
  std::vector<Function> functions;  // that are __global__ or __device__, in the order of bodies
  std::vector<Launch> launches;     // in the order of the text
  std::vector<Function> hosts;      // outermost functions that launch
};

// Finds the functions of a text and its launches. Lambdas are functions if they are given as
// kernels (given_kernels.h). The definitions of macros hold no functions. Macros of this text that
// stand for a qualifier are known. Linear in time, without recursion.
//
// The basic idea: one pass over the tokens, which is always either among declarations (in a
// namespace or a class) or in a function's body. Among declarations it notes what it has seen of
// the current one (template headers, qualifiers, the last name before parentheses), jumps over
// brackets, and decides at '{' what was declared. In a body it looks only for local classes, for
// launches, and for
// `__global__`: since no kernel can be defined in a body, a '}' must be missing before it, and the
// pass goes on as if among declarations.
//
// `macros` are those of included files; macros of the text itself are added.
Findings FindFunctions(const Code& code, const Brackets& brackets, LaunchMacros macros = {});

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_FUNCTIONS_H_
