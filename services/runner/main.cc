// kernelmill-runner: a worker that runs kernels on a device of its machine.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "common/flags/server_flags.h"
#include "common/server_process/server_process.h"
#include "common/toolchains/toolchains.h"
#include "common/version/version.h"
#include "common/worker/process/worker_process.h"
#include "services/runner/adapters/python/python_runner.h"
#include "services/runner/server/runner_stages.h"

int main(int argc, char** argv) {
  kernelmill::flags::ServerFlags server;
  server.version = kernelmill::Version();
  server.listen = "127.0.0.1:7077";
  server.metrics = "127.0.0.1:8077";
  kernelmill::flags::WorkerFlags worker;
  // Long, since each case has its own time limit and a task may have thousands.
  worker.task_timeout_seconds = 6 * 3600;
  kernelmill::runner::PythonRunnerOptions options;
  CLI::App app("Runs kernels on a device, as a worker of a coordinator.", "kernelmill-runner");
  kernelmill::flags::AddServerFlags(app, &server);
  kernelmill::flags::AddWorkerFlags(app, &worker);
  const auto devices = kernelmill::toolchains::RunDevices();
  app.add_option("--device", options.device,
                 "device on which kernels run; cpu: Triton's interpreter")
      ->envname("KERNELMILL_DEVICE")
      ->check(CLI::IsMember(std::vector<std::string>(devices.begin(), devices.end())))
      ->capture_default_str();
  app.add_option("--python", options.python,
                 "Python with Triton, and the module of kernelmill's wheel with its extra run")
      ->envname("KERNELMILL_PYTHON")
      ->capture_default_str();
  app.add_option("--processes", options.processes, "kernels of a task that run at a time")
      ->envname("KERNELMILL_PROCESSES")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--case-seconds", options.case_seconds, "time limit of a case")
      ->envname("KERNELMILL_CASE_SECONDS")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  app.add_option("--temp-dir", options.temp_dir,
                 "folder for cases and their tensors (default: the system's temp folder)")
      ->envname("KERNELMILL_TEMP_DIR")
      ->check(CLI::ExistingDirectory);
  app.add_flag("--unsafe-no-sandbox", options.unsafe_no_sandbox,
               "run untrusted code without a sandbox, as this user")
      ->envname("KERNELMILL_UNSAFE_NO_SANDBOX");
  if (const auto exit_status = kernelmill::flags::ParseFlags(app, argc, argv)) return *exit_status;
  const auto runner = kernelmill::runner::OpenPythonRunner(options);
  if (!runner.ok()) return kernelmill::ServerExitStatus(runner.status());
  return kernelmill::worker::RunWorkerProcess(server, worker,
                                              kernelmill::runner::NewRunnerStages(**runner), {});
}
