#include "services/compiler/server/local_compiler.h"

#include "common/toolchains/toolchains.h"
#include "services/compiler/adapters/sandbox/support.h"
#include "services/compiler/adapters/toolchain/toolchain_compiler.h"

namespace kernelmill::compiler {

std::string LocalToolchainsFolder() { return DefaultToolchainsFolder(); }

absl::StatusOr<std::string> LocalToolchain(const std::string& folder, absl::string_view name) {
  return FindEnvironment(folder, name);
}

absl::Status CheckLocalSandbox() { return CheckSandbox(); }

absl::StatusOr<std::unique_ptr<Compiler>> OpenLocalCompiler(const std::string& folder,
                                                            const std::vector<std::string>& names,
                                                            bool unsafe_no_sandbox) {
  std::vector<std::string> wanted = names;
  if (wanted.empty()) {
    for (const toolchains::PinnedToolchain& pinned : toolchains::PinnedToolchains()) {
      wanted.emplace_back(pinned.name);
    }
  }
  return OpenToolchains({.folder = folder, .unsafe_no_sandbox = unsafe_no_sandbox}, wanted);
}

}  // namespace kernelmill::compiler
