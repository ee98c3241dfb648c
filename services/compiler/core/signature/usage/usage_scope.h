#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_USAGE_USAGE_SCOPE_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_USAGE_USAGE_SCOPE_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "services/compiler/core/signature/usage/usage.h"

namespace kernelmill::compiler {

// A function that UsageFinder looks at, and what it has learned of it so far.
struct UsageFinder::Scope {
  const Function& function;
  FunctionUsage& usage;
  absl::flat_hash_set<std::string> followed;  // names with level and need
  absl::flat_hash_map<absl::string_view, Class> classes;
};

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_USAGE_USAGE_SCOPE_H_
