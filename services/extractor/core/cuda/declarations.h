#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_DECLARATIONS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_DECLARATIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {

// A namespace or extern "C", which hold declarations. The first one of a text is the global
// namespace.
struct Namespace {
  uint32_t outer = 0;
  // The full name: n::m. Unnamed and inline namespaces and extern "C" have that of the one around.
  std::string qualified;
  std::string opening;  // as written, without the brace: "namespace a::b"
};

// A declaration at namespace level.
struct Declaration {
  enum Kind : uint8_t {
    kFunction,    // with or without a body, and what looks like one
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
  std::vector<std::string> names;  // that it declares: "f", "operator+", enumerators
  std::string owner;               // the class of a member that is defined outside it: C, n::C
  std::string target;              // the name that a kUsing, kDirective or kShortName refers to
  uint32_t parameters = kNoToken;  // the '(' of a function's parameters
  uint32_t body = kNoToken;        // the '{' of a class
  bool specializes = false;        // begins with template <>, or is a struct S<...>
};

struct Declarations {
  std::vector<Namespace> namespaces;
  std::vector<Declaration> all;  // in the order of the text
};

// Returns whether the word is public, private or protected.
bool IsAccess(absl::string_view word);

// Finds the declarations in the namespaces of a text, except static_assert and explicit
// instantiations. Linear in time, without recursion.
//
// The basic idea: a declaration ends with its semicolon or with the brace of its body. The scanner
// walks there token by token, notes what it meets on the way (a class key, the last name before
// parentheses, '='), and jumps over brackets, so that it never looks into classes and functions. At
// the end these notes tell what kind of declaration it was. No types are known, so a variable that
// is initialized as `T x(y);` counts as a function.
Declarations FindDeclarations(const Code& code, const Brackets& brackets);

// Finds the functions that a class, given by its declaration, and the classes in it declare or
// define. Leaves out constructors, destructors, virtual functions, and what may be a variable: a
// class needs them for any caller. In the order of the text. Linear in time.
std::vector<Declaration> FindMethods(const Code& code, const Brackets& brackets,
                                     const Declaration& type);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_DECLARATIONS_H_
