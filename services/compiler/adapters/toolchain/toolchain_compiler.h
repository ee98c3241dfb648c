#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_TOOLCHAIN_COMPILER_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_TOOLCHAIN_COMPILER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "services/compiler/adapters/toolchain/zygote.h"
#include "services/compiler/core/compiler.h"

namespace kernelmill::compiler {

struct ToolchainOptions {
  std::string folder;  // of the installed toolchains; see DefaultToolchainsFolder
  // An existing folder below which each compiler gets one to write to; empty: the system's
  // temporary folder. If this process is root, compilers run as another user, who must be able to
  // pass through it.
  std::string temp_dir;
  bool unsafe_no_sandbox = false;  // by the operator's explicit word alone
};

// Compiles by the toolchains of a folder. Each caller has a zygote of its own while it waits,
// started on demand and kept for the next caller: there are as many of a toolchain as there were
// callers at once. One that is lost takes its job with it, which is tried once more by a new one;
// so is a job for which one had to be ended that had compiled others before.
class ToolchainCompiler : public Compiler {
 public:
  // `options` as OpenToolchains has checked them.
  explicit ToolchainCompiler(ToolchainOptions options) : options_(std::move(options)) {}

  absl::StatusOr<KernelReport> Compile(const KernelJob& job) override;

 private:
  // Null: none waits.
  std::unique_ptr<Zygote> TakeIdle(const std::string& toolchain);
  absl::StatusOr<std::unique_ptr<Zygote>> Start(const std::string& toolchain) const;
  // Keeps it for the next caller, or ends it if it is of no use any more.
  void GiveBack(const std::string& toolchain, std::unique_ptr<Zygote> zygote);

  const ToolchainOptions options_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::vector<std::unique_ptr<Zygote>>> idle_
      ABSL_GUARDED_BY(mutex_);
};

// A compiler by toolchains (`names`; empty: all that are pinned). FAILED_PRECONDITION: one of them
// is not installed, or this machine cannot confine what it runs; the message says what is missing.
absl::StatusOr<std::unique_ptr<Compiler>> OpenToolchains(
    const ToolchainOptions& options, const std::vector<std::string>& names = {});

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_TOOLCHAIN_TOOLCHAIN_COMPILER_H_
