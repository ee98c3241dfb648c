#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_SECOND_GUESSES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_SECOND_GUESSES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"
#include "kernelmill/v1/compile.pb.h"
#include "services/compiler/core/signature/argument_types.h"

namespace kernelmill::compiler {

// A compiler's refusal of a try.
struct Refusal {
  std::string message;
  int line = 0;     // the line of the module where it stopped; 0: unknown
  int reached = 0;  // the line of the kernel itself from which it got there; 0: unknown
};

// Names of parameters, each with another value or type than the one that was refused.
using SecondGuess = std::vector<std::pair<std::string, std::string>>;

constexpr size_t kMaxSecondGuesses = 20;

// Returns other guesses for a refused signature, the likeliest first, each once. Only guessed
// values change, and only those that decide what the compiler does at the refused line: a name that
// is bound under a condition makes that condition true, a line under a condition makes it false,
// and all parameters that the line's values are made of get other values of their kind. `module` is
// the kernel's.
std::vector<SecondGuess> FindSecondGuesses(const KernelFacts& facts,
                                           const python::SyntaxTree& module,
                                           const v1::KernelSignature& refused,
                                           const Refusal& refusal);

// Returns whether a message is about tensors' shapes, which constexprs and the blocks of
// descriptors make, whatever the types are.
bool IsAboutShapes(absl::string_view message);

// Returns x of "x is not defined"; empty for any other message.
absl::string_view FindUndefinedName(absl::string_view message);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_SECOND_GUESSES_H_
