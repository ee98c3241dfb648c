#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_CONSTEXPR_VALUES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_CONSTEXPR_VALUES_H_

#include <functional>
#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "services/compiler/core/signature/argument_types.h"

namespace kernelmill::compiler {

// How a try differs from the first.
struct Variant {
  std::string element = "fp32";       // the element type of pointers that no rule tells
  bool flags = false;                 // the value of flags that no rule tells
  bool optional = true;               // true if arguments that may be None are given
  int config = 0;                     // autotune's configuration
  absl::string_view number = "1024";  // the numbers that heuristics read
  bool small = false;                 // true if sizes that no rule tells are small
  bool reshape = true;                // true if a reshape tells sizes
  // Values of constexprs and types of arguments that take the place of refused guesses, by name.
  std::map<std::string, std::string, std::less<>> second = {};
};

struct InferredValue {
  std::string value;  // an expression, as Try has it; empty: none was found
  std::string rule;
  bool flag = false;  // Variant::flags decided
};

// The functions of a kernel's @triton.heuristics, by parameter.
using HeuristicTexts = absl::flat_hash_map<std::string, std::string>;
HeuristicTexts ReadHeuristics(const std::vector<const Expression*>& decorators);

// Infers the value of the parameter at `place`. `types` are those of the other parameters, by
// place.
InferredValue InferConstexpr(const KernelFacts& facts, const HeuristicTexts& heuristics,
                             const std::vector<InferredType>& types, size_t place,
                             const Variant& variant);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_CONSTEXPR_VALUES_H_
