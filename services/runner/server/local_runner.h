#ifndef KERNELMILL_SERVICES_RUNNER_SERVER_LOCAL_RUNNER_H_
#define KERNELMILL_SERVICES_RUNNER_SERVER_LOCAL_RUNNER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/runner/core/runner.h"

// The devices of this machine, for a program that runs the service in its own process and may not
// include its adapters.

namespace kernelmill::runner {

// As OpenPythonRunner, with `processes` kernels at a time.
absl::StatusOr<std::unique_ptr<Runner>> OpenLocalRunner(const std::string& python,
                                                        const std::string& device, int processes,
                                                        bool unsafe_no_sandbox);

}  // namespace kernelmill::runner

#endif  // KERNELMILL_SERVICES_RUNNER_SERVER_LOCAL_RUNNER_H_
