// The basic idea: starting Python and loading a compiler takes seconds, compiling a small kernel
// less. So zygotes are kept in a pool and reused. A kernel cannot leave anything behind in one,
// because it runs in forks of it. But it can kill one, by memory or sleep. If that happens in a
// used zygote, the job is tried again in a new one, so that a kernel is never blamed for what
// others did before.

#include "services/compiler/adapters/toolchain/toolchain_compiler.h"

#include <prometheus/counter.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/metrics/metrics.h"
#include "common/toolchains/toolchains.h"
#include "services/compiler/adapters/sandbox/confined_process.h"
#include "services/compiler/adapters/sandbox/policy.h"
#include "services/compiler/adapters/sandbox/support.h"

namespace kernelmill::compiler {
namespace {

constexpr int64_t kStampBytes = 1024;

// Returns an environment variable, or "".
std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string DefaultToolchainsFolder() {
  std::string folder = Environment("KERNELMILL_TOOLCHAINS");
  if (!folder.empty()) return folder;
  // Compilers run as another user than root, who cannot look into root's home.
  if (::geteuid() == 0) return "/var/lib/kernelmill/toolchains";
  const std::string cache = Environment("XDG_CACHE_HOME");
  return absl::StrCat(cache.empty() ? Environment("HOME") + "/.cache" : cache,
                      "/kernelmill/toolchains");
}

// The stamp is the hash of the pinned requirements, which the installer writes last.
// FAILED_PRECONDITION: the toolchain is unknown, not installed, or installed from other pins.
absl::StatusOr<std::string> FindEnvironment(const std::string& folder,
                                            absl::string_view toolchain) {
  const toolchains::PinnedToolchain* pinned = toolchains::FindToolchain(toolchain);
  if (pinned == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("unknown toolchain ", toolchain));
  }
  std::string environment = absl::StrCat(folder, "/", toolchain);
  const absl::StatusOr<std::string> stamp = ReadFile(environment + "/.requirements", kStampBytes);
  if (stamp.ok() && absl::StripAsciiWhitespace(*stamp) == pinned->requirements_sha256) {
    return environment;
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the toolchain ", toolchain,
                   stamp.ok() ? " is installed from other pins" : " is not installed", " in ",
                   folder, ": kernelmill toolchains --install installs it"));
}

namespace {

// Returns the policy of an environment, with the operator's options.
absl::StatusOr<Policy> MakePolicy(const std::string& environment, const ToolchainOptions& options) {
  ASSIGN_OR_RETURN(Policy policy, PythonPolicy(environment));
  policy.scratch_parent = options.temp_dir;
  policy.unsafe_no_sandbox = options.unsafe_no_sandbox;
  return policy;
}

// Checks that the toolchain's Python starts in the sandbox.
absl::Status CheckStart(const std::string& toolchain, const ToolchainOptions& options) {
  ASSIGN_OR_RETURN(const std::string environment, FindEnvironment(options.folder, toolchain));
  ASSIGN_OR_RETURN(const Policy policy, MakePolicy(environment, options));
  const ConfinedCommand command = {{environment + "/bin/python3", "-I", "-S", "-c", ""}, {}, {}};
  ASSIGN_OR_RETURN(const auto process, ConfinedProcess::Start(command, policy));
  const Ending ending = process->Wait();
  if (ending.reason == EndReason::kExited && ending.exit_code == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the Python of the toolchain ", toolchain, " does not run in the sandbox: ",
      GetName(ending.reason), " ", ending.signal == 0 ? ending.exit_code : ending.signal));
}

// Returns the pinned toolchains of the folder, and logs those that it lacks. FAILED_PRECONDITION:
// it has none; the message is of the first one.
absl::StatusOr<std::vector<std::string>> FindInstalled(const std::string& folder) {
  std::vector<std::string> installed;
  absl::Status missing;
  for (const toolchains::PinnedToolchain& pinned : toolchains::PinnedToolchains()) {
    const absl::Status found = FindEnvironment(folder, pinned.name).status();
    if (found.ok()) installed.emplace_back(pinned.name);
    missing.Update(found);
  }
  if (installed.empty()) return missing;
  if (!missing.ok()) {
    LogWarning("compiling with a part of the toolchains",
               {{"toolchains", absl::StrJoin(installed, ", ")}, {"missing", missing.message()}});
  }
  return installed;
}

}  // namespace

// Thread-safe: each call has a zygote for itself, so there are as many zygotes as there were calls
// at a time.
absl::StatusOr<KernelReport> ToolchainCompiler::Compile(const KernelJob& job) {
  if (std::unique_ptr<Zygote> zygote = TakeIdle(job.toolchain); zygote != nullptr) {
    absl::StatusOr<KernelReport> report = zygote->Compile(job);
    const bool alive = zygote->alive();
    GiveBack(job.toolchain, std::move(zygote));
    if (alive || job.stop.stop_requested()) return report;
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Zygote> zygote, Start(job.toolchain));
  absl::StatusOr<KernelReport> report = zygote->Compile(job);
  GiveBack(job.toolchain, std::move(zygote));
  return report;
}

std::unique_ptr<Zygote> ToolchainCompiler::TakeIdle(const std::string& toolchain) {
  const absl::MutexLock lock(&mutex_);
  std::vector<std::unique_ptr<Zygote>>& idle = idle_[toolchain];
  if (idle.empty()) return nullptr;
  std::unique_ptr<Zygote> zygote = std::move(idle.back());
  idle.pop_back();
  return zygote;
}

absl::StatusOr<std::unique_ptr<Zygote>> ToolchainCompiler::Start(
    const std::string& toolchain) const {
  ASSIGN_OR_RETURN(const std::string environment, FindEnvironment(options_.folder, toolchain));
  ASSIGN_OR_RETURN(const Policy policy, MakePolicy(environment, options_));
  // FindEnvironment has found the toolchain.
  const absl::string_view compiler = toolchains::FindToolchain(toolchain)->compiler;
  ASSIGN_OR_RETURN(std::unique_ptr<Zygote> zygote, Zygote::Start(environment, compiler, policy));
  metrics::Counter(metrics::kCompilersStarted, {{"toolchain", toolchain}}).Increment();
  return zygote;
}

void ToolchainCompiler::GiveBack(const std::string& toolchain, std::unique_ptr<Zygote> zygote) {
  if (!zygote->alive()) return;
  const absl::MutexLock lock(&mutex_);
  idle_[toolchain].push_back(std::move(zygote));
}

// Checks everything that can be wrong with the machine before the first kernel comes: the folder,
// the sandbox, and that each wanted toolchain starts.
absl::StatusOr<std::unique_ptr<Compiler>> OpenToolchains(const ToolchainOptions& options,
                                                         const std::vector<std::string>& names) {
  ToolchainOptions checked = options;
  std::error_code error;
  if (checked.temp_dir.empty()) checked.temp_dir = std::filesystem::temp_directory_path(error);
  if (!error) checked.temp_dir = std::filesystem::absolute(checked.temp_dir, error);
  if (error) return ErrnoStatus(error.value(), "temporary folder");
  if (!options.unsafe_no_sandbox) {
    RETURN_IF_ERROR(CheckSandbox());
    if (!MayMountScratch(checked.temp_dir)) {
      LogInfo("compilers write to a disk, since this user may not mount",
              {{"folder", checked.temp_dir}});
    }
  }
  std::vector<std::string> wanted = names;
  if (wanted.empty()) {
    ASSIGN_OR_RETURN(wanted, FindInstalled(checked.folder));
  }
  for (const std::string& name : wanted) RETURN_IF_ERROR(CheckStart(name, checked));
  return std::make_unique<ToolchainCompiler>(std::move(checked));
}

}  // namespace kernelmill::compiler
