#ifndef KERNELMILL_SERVICES_COMPILER_SERVER_LOCAL_COMPILER_H_
#define KERNELMILL_SERVICES_COMPILER_SERVER_LOCAL_COMPILER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/compiler/core/compiler.h"

// The compilers of this machine, for a program that has the service in its own process.

namespace kernelmill::compiler {

// The folder where deploy/install_toolchains.sh installs by default.
std::string LocalToolchainsFolder();

// Where a pinned toolchain is installed. FAILED_PRECONDITION: it is not, or by other pins.
absl::StatusOr<std::string> LocalToolchain(const std::string& folder, absl::string_view name);

// FAILED_PRECONDITION: this machine cannot confine compilers; the message says what is missing.
absl::Status CheckLocalSandbox();

// A compiler by the named toolchains; without names by all that are pinned. FAILED_PRECONDITION: as
// both above.
absl::StatusOr<std::unique_ptr<Compiler>> OpenLocalCompiler(
    const std::string& folder, const std::vector<std::string>& toolchains, bool unsafe_no_sandbox);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_SERVER_LOCAL_COMPILER_H_
