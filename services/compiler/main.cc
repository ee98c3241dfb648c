// kernelmill-compiler: a worker for the stage compile.
#include <grpcpp/impl/service_type.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "common/flags/parser.h"
#include "common/flags/server_flags.h"
#include "common/server_process/server_process.h"
#include "common/version/version.h"
#include "common/worker/process/worker_process.h"
#include "services/compiler/adapters/toolchain/toolchain_compiler.h"
#include "services/compiler/server/compiler_service.h"
#include "services/compiler/server/compiler_stages.h"

int main(int argc, char** argv) {
  kernelmill::flags::ServerFlags server;
  server.version = kernelmill::Version();
  server.listen = "127.0.0.1:7076";
  server.metrics = "127.0.0.1:8076";
  kernelmill::flags::WorkerFlags worker;
  // Long, since each kernel has its own time limit and a task may have hundreds.
  worker.task_timeout_seconds = 6 * 3600;
  kernelmill::compiler::ToolchainOptions options;
  options.folder = kernelmill::compiler::DefaultToolchainsFolder();
  kernelmill::flags::Parser parser("Compiles kernels, as a worker of a coordinator.",
                                   "kernelmill-compiler");
  kernelmill::flags::AddServerFlags(parser.app(), &server);
  kernelmill::flags::AddWorkerFlags(parser.app(), &worker);
  parser.Add("--toolchains", &options.folder, "folder of the installed toolchains")
      .Variable("KERNELMILL_TOOLCHAINS")
      .ShowDefault();
  parser
      .Add("--temp-dir", &options.temp_dir,
           "folder for the compilers' temporary files (default: the system's temp folder)")
      .Variable("KERNELMILL_TEMP_DIR")
      .ExistingFolder();
  parser
      .Add("--unsafe-no-sandbox", &options.unsafe_no_sandbox,
           "run untrusted code without a sandbox, as this user")
      .Variable("KERNELMILL_UNSAFE_NO_SANDBOX");
  kernelmill::flags::CallFlags calls;
  kernelmill::flags::AddCallFlags(parser.app(), &calls);
  if (const auto exit_status = kernelmill::flags::ParseFlags(parser.app(), argc, argv))
    return *exit_status;
  const auto toolchains = kernelmill::compiler::OpenToolchains(options);
  if (!toolchains.ok()) return kernelmill::ServerExitStatus(toolchains.status());
  const auto timed = kernelmill::compiler::NewTimedCompiler(**toolchains);
  const auto compiler = kernelmill::compiler::NewLimitedCompiler(*timed, worker.slots);
  return kernelmill::worker::RunWorkerProcess(
      server, worker, kernelmill::compiler::NewCompilerStages(*compiler, worker.slots), [&](auto&) {
        return kernelmill::compiler::NewCompilerService(
            *compiler, {calls.max_calls_per_caller, calls.max_calls}, worker.slots);
      });
}
