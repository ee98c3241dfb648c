#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_HOST_MACHINERY_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_HOST_MACHINERY_H_

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/closure.h"

namespace kernelmill::extractor {

// What of a module runs on the host alone: definitions that the kernel comes to through names of
// its decorators, or of the statement that makes it a kernel, and through nothing in its signature
// and body. A list of configurations and a function that prunes it are small and tell how the
// kernel is tuned; an autotuner of a repository's own is not what the kernel needs to compile.
//
// The rule: a name whose machinery is larger than both bounds is left out of the module.
constexpr size_t kMaxMachineryBytes = 4u << 10;
constexpr size_t kMaxMachineryOfSource = 4;  // times the kernel's source

// The names that the rule leaves out.
absl::flat_hash_set<std::string> OversizedMachinery(const Closure& closure,
                                                    const v1::Kernel& kernel);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_HOST_MACHINERY_H_
