#ifndef KERNELMILL_SERVICES_COMPILER_SERVER_LOCAL_COMPILER_H_
#define KERNELMILL_SERVICES_COMPILER_SERVER_LOCAL_COMPILER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/compiler/core/compiler.h"

// The compilers of this machine, for a program that runs the service in its own process and may not
// include its adapters.

namespace kernelmill::compiler {

// Returns the folder in which deploy/install_toolchains.sh installs by default.
std::string LocalToolchainsFolder();

// Returns the folder of an installed toolchain. Returns FAILED_PRECONDITION if it is not installed,
// or with other versions than the pinned ones.
absl::StatusOr<std::string> LocalToolchain(const std::string& folder, absl::string_view name);

// Returns FAILED_PRECONDITION if this machine cannot confine compilers; the message says what is
// missing.
absl::Status CheckLocalSandbox();

// Opens the named toolchains, or all pinned ones if there are no names: a job that names no
// toolchain compiles with all of them. Errors are those of both functions above.
absl::StatusOr<std::unique_ptr<Compiler>> OpenLocalCompiler(const std::string& folder,
                                                            const std::vector<std::string>& names,
                                                            bool unsafe_no_sandbox);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_SERVER_LOCAL_COMPILER_H_
