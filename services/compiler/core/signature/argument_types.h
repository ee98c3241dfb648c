#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_ARGUMENT_TYPES_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_ARGUMENT_TYPES_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/functions.h"
#include "common/python/syntax/imports.h"
#include "common/python/usage/usage_finder.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/compiler/core/signature/launch.h"

namespace kernelmill::compiler {

using python::Expression;
using python::Function;
using python::FunctionUsage;
using python::ModuleFunctions;

// The description that TorchInductor writes beside each of its kernels: triton_meta={'signature':
// ..., 'constants': ..., 'configs': ...}, by names or, in older versions, by places of parameters.
struct InductorMeta {
  absl::flat_hash_map<std::string, std::string> types;  // "*fp32"; constexprs are in `constants`
  absl::flat_hash_map<std::string, std::string> constants;  // as Python's repr() has them
  absl::flat_hash_set<std::string> divisible_by_16;
};

// Returns the description of a kernel with such a decorator. The decorators are those of the
// record, since a module may lack them.
std::optional<InductorMeta> ReadInductorMeta(const std::vector<const Expression*>& decorators,
                                             const Function& kernel);

// The facts about a kernel that the rules choose from. Refers to all of them.
struct KernelFacts {
  const v1::Kernel& kernel;
  const ModuleFunctions& module;
  const python::ImportMap& imports;  // the module's
  const Function& function;          // of the module
  const FunctionUsage& usage;
  const Launch& launch;
  const InductorMeta* inductor = nullptr;  // null: none
};

// The type of an argument that is not a constexpr.
struct InferredType {
  std::string type;  // "*?": a pointer to floats, which the tries vary; empty: no type was found
  std::string rule;  // of rules.h
  bool optional = false;     // the launch may give None
  bool always_none = false;  // the launch gives None
};

// Infers the type of the parameter at `place` of the function.
InferredType InferType(const KernelFacts& facts, size_t place);

// Returns "tensordesc<fp16[64, 32]>" for the parameter at `place`; empty if the block's size is not
// known. The sizes are the first complete ones of
//
//   a hook before the launch sets them          nargs["x"].block_shape = [BLOCK, 64]
//   the launch makes the descriptor with them   TensorDescriptor.from_tensor(x, [BLOCK, 64]); not
//                                               all 1, a placeholder until a hook sets them
//   offsets are multiples of them               x.load([pid * BLOCK, 0]): a dimension without one
//                                               is 1, if another one has one; else all are 64, or
//                                               16 of more than two
//
// `value_of` gives the value of the constexpr at a place.
std::string MakeDescriptorType(const KernelFacts& facts, size_t place, absl::string_view element,
                               const std::function<std::string(size_t)>& value_of);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_ARGUMENT_TYPES_H_
