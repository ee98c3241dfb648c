// kernelmill-compiler: the worker that compiles kernels.
#include <grpcpp/impl/service_type.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "common/config/server_flags.h"
#include "common/server_process/server_process.h"
#include "common/toolchains/toolchains.h"
#include "common/version/version.h"
#include "common/worker/process/worker_process.h"
#include "services/compiler/server/compiler_metrics.h"
#include "services/compiler/server/compiler_service.h"
#include "services/compiler/server/compiler_stages.h"
#include "services/compiler/toolchain/environment.h"
#include "services/compiler/toolchain/toolchain_compiler.h"

namespace kernelmill::compiler {
namespace {

// Whether every pinned toolchain is there. A job that names none compiles by all of them.
absl::Status CheckToolchains(const std::string& folder) {
  for (const toolchains::PinnedToolchain& toolchain : toolchains::PinnedToolchains()) {
    const auto environment = FindEnvironment(folder, toolchain.name);
    if (!environment.ok()) return environment.status();
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace kernelmill::compiler

int main(int argc, char** argv) {
  kernelmill::config::ServerFlags server;
  server.version = kernelmill::Version();
  server.listen = "127.0.0.1:7076";
  server.metrics = "127.0.0.1:8076";
  kernelmill::config::WorkerFlags worker;
  // Each kernel has bounds of its own, and a task may have hundreds.
  worker.task_timeout_seconds = 6 * 3600;
  kernelmill::compiler::ToolchainOptions options;
  options.folder = kernelmill::compiler::DefaultToolchainsFolder();
  bool unsafe = false;
  CLI::App app("Compiles kernels, as a worker of a coordinator.", "kernelmill-compiler");
  kernelmill::config::AddServerFlags(app, &server);
  kernelmill::config::AddWorkerFlags(app, &worker);
  app.add_option("--toolchains", options.folder, "folder of the installed toolchains")
      ->envname("KERNELMILL_TOOLCHAINS")
      ->capture_default_str();
  app.add_flag("--unsafe-no-sandbox", unsafe,
               "run what strangers wrote without a sandbox, as this user")
      ->envname("KERNELMILL_UNSAFE_NO_SANDBOX");
  kernelmill::config::CallFlags calls;
  kernelmill::config::AddCallFlags(app, &calls);
  if (const auto exit_status = kernelmill::config::ParseFlags(app, argc, argv)) return *exit_status;
  absl::Status ready = kernelmill::compiler::CheckToolchains(options.folder);
  if (ready.ok() && !unsafe) {
    ready = absl::FailedPreconditionError(
        "the compilers of this build are not confined, and a module that is loaded runs code that "
        "strangers wrote: "
        "--unsafe-no-sandbox says that this machine may");
  }
  if (!ready.ok()) return kernelmill::ServerExitStatus(ready);
  kernelmill::compiler::ToolchainCompiler toolchains(options);
  const auto compiler = kernelmill::compiler::NewTimedCompiler(toolchains);
  return kernelmill::worker::RunWorkerProcess(
      server, worker, kernelmill::compiler::NewCompilerStages(*compiler), [&](auto&) {
        return kernelmill::compiler::NewCompilerService(
            *compiler, {calls.max_calls_per_caller, calls.max_calls});
      });
}
