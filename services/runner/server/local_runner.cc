#include "services/runner/server/local_runner.h"

#include "services/runner/adapters/python/python_runner.h"

namespace kernelmill::runner {

absl::StatusOr<std::unique_ptr<Runner>> OpenLocalRunner(const std::string& python,
                                                        const std::string& device, int processes,
                                                        bool unsafe_no_sandbox) {
  return OpenPythonRunner({.python = python,
                           .device = device,
                           .processes = processes,
                           .unsafe_no_sandbox = unsafe_no_sandbox});
}

}  // namespace kernelmill::runner
