#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_DECLARATIONS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_DECLARATIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {

// A namespace, or extern "C": what holds declarations. The first of a text is the global one.
struct Namespace {
  uint32_t outer = 0;
  // After those around it; of unnamed and inline ones and of extern "C" that of the one around.
  std::string qualified;
  std::string opening;  // as written, without the brace: "namespace a::b"
};

// What a namespace holds.
struct Declaration {
  enum Kind : uint8_t {
    kFunction,    // a definition or none, and what looks like one
    kType,        // class, struct, union, enum
    kVariable,    // constants too
    kAlias,       // using x = ..., typedef
    kUsing,       // using a::b
    kDirective,   // using namespace a: `target`
    kShortName,   // namespace a = b: `target`
    kInvocation,  // NAME(...) of a macro, with or without a semicolon
  };
  Kind kind = kVariable;
  uint32_t first = kNoToken;  // tokens
  uint32_t last = kNoToken;
  uint32_t space = 0;              // index of its namespace
  std::vector<std::string> names;  // that it binds there: "f", "operator+", enumerators
  std::string owner;               // of a member that is defined outside of its class: C, n::C
  std::string target;
  uint32_t parameters = kNoToken;  // '(' of a function's
  bool specializes = false;        // template <>
};

struct Declarations {
  std::vector<Namespace> namespaces;
  std::vector<Declaration> all;  // in the order of the text
};

// Finds what the namespaces of a text declare; static_assert and explicit instantiations are left
// out. Linear in time, without recursion.
//
// The basic idea: a declaration ends with its semicolon, or with the brace of its body. On the way
// there brackets are jumped over, so that nothing within classes and functions is looked at.
Declarations FindDeclarations(const Code& code, const Brackets& brackets);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_DECLARATIONS_H_
