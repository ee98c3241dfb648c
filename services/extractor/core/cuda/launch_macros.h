#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_LAUNCH_MACROS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_LAUNCH_MACROS_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {

// What a macro launches: kernels by name, and those that it is given, by the argument's number;
// what macros launch that it is given; and names that it returns, which may be kernels.
struct MacroLaunches {
  std::set<std::string> names;
  std::set<uint32_t> arguments;
  std::set<uint32_t> macros;
  std::set<std::string> returned;
};

// Calls that launch without <<< >>>: of macros whose name has LAUNCH in it, but for those about
// errors and launch bounds, of cudaLaunchKernel and its like, and of hipLaunchKernelGGL. One of
// their first arguments names the kernel.
bool IsLaunchCall(absl::string_view word);

// Macros that launch, in their own text or through one another.
class LaunchMacros {
 public:
  // Those of a text; what they invoke must have been added before.
  void Add(const Code& code);

  // Null: it launches nothing.
  const MacroLaunches* Find(absl::string_view name) const;
  bool empty() const { return macros_.empty(); }

 private:
  void AddOne(const Macro& macro);

  absl::flat_hash_map<std::string, MacroLaunches> macros_;
};

// The name after the `return` at `at`, without '&' and namespaces; empty where there is none.
absl::string_view ReturnedName(const Code& code, uint32_t at);

// The arguments of the call whose '(' is at `open`: of each the name that it begins with, without
// casts, '&' and namespaces; empty where there is none. The first few.
std::vector<absl::string_view> NamedArguments(const Code& code, const Brackets& brackets,
                                              uint32_t open);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_LAUNCH_MACROS_H_
