#include "services/compiler/server/local_compiler.h"

#include "services/compiler/adapters/sandbox/support.h"
#include "services/compiler/adapters/toolchain/toolchain_compiler.h"

namespace kernelmill::compiler {

std::string LocalToolchainsFolder() { return DefaultToolchainsFolder(); }

absl::StatusOr<std::string> LocalToolchain(const std::string& folder, absl::string_view name) {
  return FindEnvironment(folder, name);
}

absl::Status CheckLocalSandbox() { return CheckSandbox(); }

absl::StatusOr<std::unique_ptr<Compiler>> OpenLocalCompiler(
    const std::string& folder, const std::vector<std::string>& toolchains, bool unsafe_no_sandbox) {
  return OpenToolchains({.folder = folder, .unsafe_no_sandbox = unsafe_no_sandbox}, toolchains);
}

}  // namespace kernelmill::compiler
