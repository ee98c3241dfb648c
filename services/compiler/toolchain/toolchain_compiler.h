#ifndef KERNELMILL_SERVICES_COMPILER_TOOLCHAIN_TOOLCHAIN_COMPILER_H_
#define KERNELMILL_SERVICES_COMPILER_TOOLCHAIN_TOOLCHAIN_COMPILER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "services/compiler/core/compiler.h"
#include "services/compiler/toolchain/zygote.h"

namespace kernelmill::compiler {

struct ToolchainOptions {
  std::string folder;  // of the installed toolchains; see DefaultToolchainsFolder
};

// Compiles by the toolchains of a folder. Each caller has a zygote of its own while it waits,
// started on demand and kept for the next caller: there are as many of a toolchain as there were
// callers at once. One that is lost takes its job with it, which is tried once more by a new one.
class ToolchainCompiler : public Compiler {
 public:
  explicit ToolchainCompiler(ToolchainOptions options) : options_(std::move(options)) {}

  absl::StatusOr<KernelReport> Compile(const KernelJob& job) override;

 private:
  absl::StatusOr<std::unique_ptr<Zygote>> Take(const std::string& toolchain);
  void GiveBack(const std::string& toolchain, std::unique_ptr<Zygote> zygote);

  const ToolchainOptions options_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::vector<std::unique_ptr<Zygote>>> idle_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_TOOLCHAIN_TOOLCHAIN_COMPILER_H_
