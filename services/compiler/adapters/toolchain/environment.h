#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_ENVIRONMENT_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_ENVIRONMENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::compiler {

// Where deploy/install_toolchains.sh installs: $KERNELMILL_TOOLCHAINS, else
// /var/lib/kernelmill/toolchains for root, else ~/.cache/kernelmill/toolchains.
std::string DefaultToolchainsFolder();

// The Python environment of a pinned toolchain. FAILED_PRECONDITION: it is not installed in
// `folder`, or installed from other pins; the message says how to install it.
absl::StatusOr<std::string> FindEnvironment(const std::string& folder, absl::string_view toolchain);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_ENVIRONMENT_H_
