#ifndef KERNELMILL_SERVICES_VALIDATOR_SERVER_VALIDATOR_STAGES_H_
#define KERNELMILL_SERVICES_VALIDATOR_SERVER_VALIDATOR_STAGES_H_

#include <memory>
#include <vector>

#include "common/worker/stage.h"

namespace kernelmill::validator {

// Returns the stages that this service runs: validate.
std::vector<std::unique_ptr<worker::Stage>> NewValidatorStages();

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_SERVER_VALIDATOR_STAGES_H_
