#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_INDUCTOR_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_INDUCTOR_H_

#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/python/syntax/functions.h"

namespace kernelmill::compiler {

using python::Expression;
using python::Function;

// What TorchInductor writes beside a kernel of its own: triton_meta={'signature': ..., 'constants':
// ..., 'configs': ...}, by names or, as older versions do, by places of parameters.
struct InductorMeta {
  absl::flat_hash_map<std::string, std::string> types;  // "*fp32"; constexprs are in `constants`
  absl::flat_hash_map<std::string, std::string> constants;  // as Python's repr() has them
  absl::flat_hash_set<std::string> divisible_by_16;
};

// Of a kernel with such a decorator. The decorators are those of the record, parsed: a module may
// do without them.
std::optional<InductorMeta> ReadInductorMeta(const std::vector<const Expression*>& decorators,
                                             const Function& kernel);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_INDUCTOR_H_
