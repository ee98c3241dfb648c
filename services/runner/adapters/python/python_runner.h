#ifndef KERNELMILL_SERVICES_RUNNER_ADAPTERS_PYTHON_PYTHON_RUNNER_H_
#define KERNELMILL_SERVICES_RUNNER_ADAPTERS_PYTHON_PYTHON_RUNNER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/runner/core/runner.h"

namespace kernelmill::runner {

struct PythonRunnerOptions {
  std::string python = "python3";  // has Triton and the module of kernelmill's wheel
  std::string device = "cpu";
  int processes = 1;      // kernels that run at a time
  int case_seconds = 60;  // for one case
  std::string temp_dir;   // empty: the system's
  bool unsafe_no_sandbox = false;
  absl::Duration timeout = absl::Hours(6);  // for one execution
};

// Opens the device by the Python that runs kernels (python/kernelmill/execution), which confines
// them as `kernelmill run` does: the judge and this process never load a module.
// FAILED_PRECONDITION: there is no such Python, it lacks a package, the machine lacks the device or
// cannot confine kernels; the message says which.
absl::StatusOr<std::unique_ptr<Runner>> OpenPythonRunner(const PythonRunnerOptions& options);

}  // namespace kernelmill::runner

#endif  // KERNELMILL_SERVICES_RUNNER_ADAPTERS_PYTHON_PYTHON_RUNNER_H_
