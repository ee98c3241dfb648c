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

// The kernels that a macro launches.
struct MacroLaunches {
  std::set<std::string> names;     // kernels that its text names
  std::set<uint32_t> arguments;    // numbers of arguments that are kernels
  std::set<uint32_t> macros;       // numbers of arguments that are macros, which launch in turn
  std::set<std::string> returned;  // names that it returns, which may be kernels
};

// Returns whether a call of the word launches without <<< >>>: cudaLaunchKernel and its like,
// hipLaunchKernelGGL, and macros with LAUNCH in their name, except those about errors and launch
// bounds. One of the first arguments names the kernel.
bool IsLaunchCall(absl::string_view word);

// The macros that launch kernels, in their own text or by invoking one another.
class LaunchMacros {
 public:
  // Adds the macros of a text. Macros that these invoke must be added before: a name that is
  // unknown by then launches nothing.
  void Add(const Code& code);

  // Returns null for a macro that launches nothing.
  const MacroLaunches* Find(absl::string_view name) const;
  bool empty() const { return macros_.empty(); }

 private:
  void AddOne(const Macro& macro);

  absl::flat_hash_map<std::string, MacroLaunches> macros_;
};

// Returns the name after the `return` at `at`, without '&' and namespaces; empty if it returns
// anything else.
absl::string_view ReturnedName(const Code& code, uint32_t at);

// Returns for each argument of the call whose '(' is at `open` the name that the argument begins
// with, without casts, '&' and namespaces; empty if it begins with no name. Only the first few
// arguments are read.
std::vector<absl::string_view> NamedArguments(const Code& code, const Brackets& brackets,
                                              uint32_t open);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_LAUNCH_MACROS_H_
