#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_FUNCTIONS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_FUNCTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/launch_macros.h"
#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {

// Two brackets and what stands between.
struct Enclosed {
  uint32_t open = kNoToken;
  uint32_t close = kNoToken;

  bool found() const { return open != kNoToken; }
};

// The definition of a function.
struct Function {
  uint32_t first = kNoToken;  // of its template header, attributes or type, whichever is first
  uint32_t body = kNoToken;   // '{'
  uint32_t last = kNoToken;   // '}'
  std::string name;           // "k", "operator()", "~C"
  std::string qualname;       // after the namespaces, classes and functions around it: n::C::k
  bool global = false;        // __global__
  bool device = false;        // __device__
  Enclosed parameters;
  std::vector<Enclosed> templates;  // each header's < >
  Enclosed launch_bounds;
  bool parse_error = false;
};

// name<<<...>>>(...) or name<...><<<...>>>(...); also a call or a macro that launches the kernel it
// is given or that it names (launch_macros.h). Of a local name that is given a kernel's, as in
// `auto f = a ? k<1> : k<2>;`, the words that it is given, and what functions of the text return
// that are among these.
struct Launch {
  std::string name;  // the last part of it
  uint32_t first = kNoToken;
  uint32_t last = kNoToken;
  uint32_t host = kNoToken;  // index among the hosts; kNoToken outside of all functions
};

struct Findings {
  std::vector<Function> functions;  // that are __global__ or __device__, in the order of bodies
  std::vector<Launch> launches;     // in the order of the text
  std::vector<Function> hosts;      // outermost functions that launch
};

// Finds what a text defines and launches; lambdas and what a macro's definition holds are no
// functions. Of macros, those of the same text that stand for a qualifier and other words are
// known. Linear in time, without recursion.
//
// The basic idea: one pass over the tokens that knows whether it stands among declarations (in a
// namespace or a class) or in a function's body. Among declarations it remembers what it has seen
// of the current one (template headers, qualifiers, the last name before parentheses), jumps over
// brackets, and asks at '{' what the declaration was. In a body it looks for local classes and
// launches alone, and for `__global__`, which cannot stand there: a '}' before it is missing.
//
// `macros`: those of the text are known without.
Findings FindFunctions(const Code& code, const Brackets& brackets, LaunchMacros macros = {});

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_FUNCTIONS_H_
