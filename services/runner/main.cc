// kernelmill-runner: a worker that runs kernels on a device of its machine.
#include <string>
#include <vector>

#include "common/flags/parser.h"
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
  kernelmill::flags::Parser parser("Runs kernels on a device, as a worker of a coordinator.",
                                   "kernelmill-runner");
  kernelmill::flags::AddServerFlags(parser.app(), &server);
  kernelmill::flags::AddWorkerFlags(parser.app(), &worker);
  const auto devices = kernelmill::toolchains::RunDevices();
  parser.Add("--device", &options.device, "device on which kernels run; cpu: Triton's interpreter")
      .Variable("KERNELMILL_DEVICE")
      .Choices(std::vector<std::string>(devices.begin(), devices.end()))
      .ShowDefault();
  parser
      .Add("--python", &options.python,
           "Python with Triton, and the module of kernelmill's wheel with its extra run")
      .Variable("KERNELMILL_PYTHON")
      .ShowDefault();
  parser.Add("--processes", &options.processes, "kernels of a task that run at a time")
      .Variable("KERNELMILL_PROCESSES")
      .Range(1, 256)
      .ShowDefault();
  parser.Add("--case-seconds", &options.case_seconds, "time limit of a case")
      .Variable("KERNELMILL_CASE_SECONDS")
      .Range(1, 3600)
      .ShowDefault();
  parser
      .Add("--temp-dir", &options.temp_dir,
           "folder for cases and their tensors (default: the system's temp folder)")
      .Variable("KERNELMILL_TEMP_DIR")
      .ExistingFolder();
  parser
      .Add("--unsafe-no-sandbox", &options.unsafe_no_sandbox,
           "run untrusted code without a sandbox, as this user")
      .Variable("KERNELMILL_UNSAFE_NO_SANDBOX");
  if (const auto exit_status = kernelmill::flags::ParseFlags(parser.app(), argc, argv))
    return *exit_status;
  const auto runner = kernelmill::runner::OpenPythonRunner(options);
  if (!runner.ok()) return kernelmill::ServerExitStatus(runner.status());
  return kernelmill::worker::RunWorkerProcess(server, worker,
                                              kernelmill::runner::NewRunnerStages(**runner), {});
}
