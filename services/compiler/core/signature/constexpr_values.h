#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_CONSTEXPR_VALUES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_CONSTEXPR_VALUES_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "services/compiler/core/signature/argument_types.h"

namespace kernelmill::compiler {

// How a try differs from the first.
struct Variant {
  std::string element = "fp32";       // what pointers of which nothing is known point to
  bool flags = false;                 // what flags are of which nothing is known
  bool optional = true;               // whether arguments are given that may be None
  int config = 0;                     // of autotune
  absl::string_view number = "1024";  // what numbers stand in for that heuristics read
  bool small = false;                 // whether sizes of which nothing is known are small
  bool reshape = true;                // whether reshaping tells sizes
};

struct InferredValue {
  std::string value;  // an expression, as Try has it; empty: none was found
  std::string rule;
  bool flag = false;  // Variant::flags decided
};

// The functions of a kernel's @triton.heuristics, by parameter.
using HeuristicTexts = absl::flat_hash_map<std::string, std::string>;
HeuristicTexts ReadHeuristics(const std::vector<const Expression*>& decorators);

// Of the parameter at `place`. `types` are those of the other parameters, by place.
InferredValue InferConstexpr(const KernelFacts& facts, const HeuristicTexts& heuristics,
                             const std::vector<InferredType>& types, size_t place,
                             const Variant& variant);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_CONSTEXPR_VALUES_H_
