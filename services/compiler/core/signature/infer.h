#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_INFER_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_INFER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::compiler {

// The signatures that a kernel may have, as far as its record tells.
struct Inference {
  // In order, each once; empty if something is missing. The values of constexprs are Python
  // expressions, as Try (services/compiler/core/compiler.h) has them.
  std::vector<v1::KernelSignature> tries;
  std::string missing;  // "type:x_ptr", "constexpr:COMBINE", "function"; empty: nothing
};

constexpr size_t kMaxTries = 15;

// Infers by the rules of rules.h. Deterministic. Linear in the record, up to the bounds of
// UsageFinder.
//
// DEADLINE_EXCEEDED: the clock ran out on this machine over a text of the record; another try may
// succeed. A module that no parser reads within its bounds misses its "function".
absl::StatusOr<Inference> InferSignature(const v1::Kernel& kernel);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_INFER_H_
