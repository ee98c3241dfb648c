#ifndef KERNELMILL_SERVICES_RUNNER_SERVER_RUNNER_STAGES_H_
#define KERNELMILL_SERVICES_RUNNER_SERVER_RUNNER_STAGES_H_

#include <memory>
#include <vector>

#include "common/worker/stage.h"
#include "services/runner/core/runner.h"

namespace kernelmill::runner {

// Makes the stage that runs kernels on the runner's device. `runner` must outlive it. Thread-safe.
std::vector<std::unique_ptr<worker::Stage>> NewRunnerStages(Runner& runner);

}  // namespace kernelmill::runner

#endif  // KERNELMILL_SERVICES_RUNNER_SERVER_RUNNER_STAGES_H_
