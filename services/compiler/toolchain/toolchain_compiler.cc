#include "services/compiler/toolchain/toolchain_compiler.h"

#include <utility>

#include "absl/status/status.h"
#include "common/base/status.h"
#include "services/compiler/toolchain/environment.h"

namespace kernelmill::compiler {

absl::StatusOr<KernelReport> ToolchainCompiler::Compile(const KernelJob& job) {
  absl::Status last;
  for (int attempt = 0; attempt < 2; ++attempt) {
    ASSIGN_OR_RETURN(std::unique_ptr<Zygote> zygote, Take(job.toolchain));
    absl::StatusOr<KernelReport> report = zygote->Compile(job);
    if (report.ok()) {
      GiveBack(job.toolchain, std::move(zygote));
      return report;
    }
    last = report.status();
  }
  return last;
}

absl::StatusOr<std::unique_ptr<Zygote>> ToolchainCompiler::Take(const std::string& toolchain) {
  {
    const absl::MutexLock lock(&mutex_);
    std::vector<std::unique_ptr<Zygote>>& idle = idle_[toolchain];
    if (!idle.empty()) {
      std::unique_ptr<Zygote> zygote = std::move(idle.back());
      idle.pop_back();
      return zygote;
    }
  }
  ASSIGN_OR_RETURN(const std::string environment, FindEnvironment(options_.folder, toolchain));
  return Zygote::Start(environment);
}

void ToolchainCompiler::GiveBack(const std::string& toolchain, std::unique_ptr<Zygote> zygote) {
  const absl::MutexLock lock(&mutex_);
  idle_[toolchain].push_back(std::move(zygote));
}

}  // namespace kernelmill::compiler
