#include "services/compiler/toolchain/toolchain_compiler.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/toolchains/toolchains.h"
#include "services/compiler/sandbox/confined_process.h"
#include "services/compiler/sandbox/policy.h"
#include "services/compiler/sandbox/support.h"
#include "services/compiler/toolchain/environment.h"

namespace kernelmill::compiler {
namespace {

// Users of the range that Policy.uid begins.
constexpr int kMaxSlots = 128;

absl::StatusOr<Policy> PolicyOf(const std::string& environment, const ToolchainOptions& options,
                                int slot) {
  ASSIGN_OR_RETURN(Policy policy, PythonPolicy(environment));
  policy.scratch_parent = options.temp_dir;
  policy.uid += static_cast<uid_t>(slot % kMaxSlots);
  policy.unsafe_no_sandbox = options.unsafe_no_sandbox;
  return policy;
}

// Whether its Python starts, confined as its compilers will be.
absl::Status CheckStart(const std::string& toolchain, const ToolchainOptions& options) {
  ASSIGN_OR_RETURN(const std::string environment, FindEnvironment(options.folder, toolchain));
  ASSIGN_OR_RETURN(const Policy policy, PolicyOf(environment, options, 0));
  const ConfinedCommand command = {{environment + "/bin/python3", "-I", "-S", "-c", ""}, {}, {}};
  ASSIGN_OR_RETURN(const auto process, ConfinedProcess::Start(command, policy));
  const Ending ending = process->Wait();
  if (ending.reason == EndReason::kExited && ending.exit_code == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the Python of the toolchain ", toolchain, " does not run in the sandbox: ",
      NameOf(ending.reason), " ", ending.signal == 0 ? ending.exit_code : ending.signal));
}

}  // namespace

absl::StatusOr<KernelReport> ToolchainCompiler::Compile(const KernelJob& job) {
  absl::Status last;
  for (int attempt = 0; attempt < 2; ++attempt) {
    ASSIGN_OR_RETURN(Running running, Take(job.toolchain));
    absl::StatusOr<KernelReport> report = running.zygote->Compile(job);
    GiveBack(job.toolchain, std::move(running));
    if (report.ok()) return report;
    last = report.status();
  }
  return last;
}

absl::StatusOr<ToolchainCompiler::Running> ToolchainCompiler::Take(const std::string& toolchain) {
  {
    const absl::MutexLock lock(&mutex_);
    std::vector<Running>& idle = idle_[toolchain];
    if (!idle.empty()) {
      Running running = std::move(idle.back());
      idle.pop_back();
      return running;
    }
  }
  return Start(toolchain);
}

absl::StatusOr<ToolchainCompiler::Running> ToolchainCompiler::Start(const std::string& toolchain) {
  ASSIGN_OR_RETURN(const std::string environment, FindEnvironment(options_.folder, toolchain));
  Running running;
  running.slot = TakeSlot();
  absl::StatusOr<Policy> policy = PolicyOf(environment, options_, running.slot);
  absl::StatusOr<std::unique_ptr<Zygote>> zygote =
      policy.ok() ? Zygote::Start(environment, *policy) : policy.status();
  if (!zygote.ok()) {
    FreeSlot(running.slot);
    return zygote.status();
  }
  running.zygote = *std::move(zygote);
  return running;
}

void ToolchainCompiler::GiveBack(const std::string& toolchain, Running running) {
  if (!running.zygote->alive()) {
    running.zygote.reset();
    FreeSlot(running.slot);
    return;
  }
  const absl::MutexLock lock(&mutex_);
  idle_[toolchain].push_back(std::move(running));
}

int ToolchainCompiler::TakeSlot() {
  const absl::MutexLock lock(&mutex_);
  const auto free = std::find(slots_.begin(), slots_.end(), false);
  const int slot = static_cast<int>(free - slots_.begin());
  if (free == slots_.end()) slots_.push_back(false);
  slots_[slot] = true;
  return slot;
}

void ToolchainCompiler::FreeSlot(int slot) {
  const absl::MutexLock lock(&mutex_);
  slots_[slot] = false;
}

absl::StatusOr<std::unique_ptr<Compiler>> OpenToolchains(const ToolchainOptions& options,
                                                         const std::vector<std::string>& names) {
  ToolchainOptions checked = options;
  std::error_code error;
  if (checked.temp_dir.empty()) checked.temp_dir = std::filesystem::temp_directory_path(error);
  if (!error) checked.temp_dir = std::filesystem::absolute(checked.temp_dir, error);
  if (error) return ErrnoStatus(error.value(), "temporary folder");
  if (!options.unsafe_no_sandbox) RETURN_IF_ERROR(CheckSandbox());
  std::vector<std::string> wanted = names;
  if (wanted.empty()) {
    for (const toolchains::PinnedToolchain& pinned : toolchains::PinnedToolchains()) {
      wanted.emplace_back(pinned.name);
    }
  }
  for (const std::string& name : wanted) RETURN_IF_ERROR(CheckStart(name, checked));
  return std::make_unique<ToolchainCompiler>(std::move(checked));
}

}  // namespace kernelmill::compiler
