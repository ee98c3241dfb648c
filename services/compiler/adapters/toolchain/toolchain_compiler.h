#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_TOOLCHAIN_COMPILER_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_TOOLCHAIN_COMPILER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "services/compiler/adapters/toolchain/zygote.h"
#include "services/compiler/core/compiler.h"

namespace kernelmill::compiler {

// Returns the folder in which deploy/install_toolchains.sh installs: $KERNELMILL_TOOLCHAINS, or
// else /var/lib/kernelmill/toolchains for root and ~/.cache/kernelmill/toolchains for others.
std::string DefaultToolchainsFolder();

// Returns the Python environment of a pinned toolchain. Returns FAILED_PRECONDITION if it is not
// installed in `folder`, or with other versions than the pinned ones; the message says how to
// install it.
absl::StatusOr<std::string> FindEnvironment(const std::string& folder, absl::string_view toolchain);

struct ToolchainOptions {
  std::string folder;  // with the installed toolchains; see DefaultToolchainsFolder
  // An existing folder in which each compiler gets a scratch folder; empty: the system's temp
  // folder. If this process is root, compilers run as another user, who must be able to pass
  // through it.
  std::string temp_dir;
  bool unsafe_no_sandbox = false;  // only the operator sets it
};

// A compiler that uses the toolchains of a folder. Each call has a zygote of its own, which is
// started on demand and kept for the next call. So a toolchain has as many zygotes as it had
// concurrent calls. If a zygote that compiled other kernels before dies or has to be killed, its
// job is tried once more by a new one. Thread-safe. Errors are those of Compiler.
class ToolchainCompiler : public Compiler {
 public:
  // `options` were checked by OpenToolchains().
  explicit ToolchainCompiler(ToolchainOptions options) : options_(std::move(options)) {}

  absl::StatusOr<KernelReport> Compile(const KernelJob& job) override;

 private:
  // Returns null if no zygote is idle.
  std::unique_ptr<Zygote> TakeIdle(const std::string& toolchain);
  absl::StatusOr<std::unique_ptr<Zygote>> Start(const std::string& toolchain) const;
  // Keeps a zygote for the next call, or drops it if it is not alive.
  void GiveBack(const std::string& toolchain, std::unique_ptr<Zygote> zygote);

  const ToolchainOptions options_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::vector<std::unique_ptr<Zygote>>> idle_
      ABSL_GUARDED_BY(mutex_);
};

// Opens toolchains (`names`; empty: the installed ones, at least one), after it starts each once in
// the sandbox. Returns FAILED_PRECONDITION if one is not installed, or if this machine cannot
// confine it; the message says what is missing.
absl::StatusOr<std::unique_ptr<Compiler>> OpenToolchains(
    const ToolchainOptions& options, const std::vector<std::string>& names = {});

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_TOOLCHAIN_COMPILER_H_
