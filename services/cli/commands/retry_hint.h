#ifndef KERNELMILL_SERVICES_CLI_COMMANDS_RETRY_HINT_H_
#define KERNELMILL_SERVICES_CLI_COMMANDS_RETRY_HINT_H_

#include <string>

#include "absl/status/status.h"

namespace kernelmill::cli {

// Of a command that reads a dataset: where the store lost something of it, says what mends that.
// `job` may be empty where it is not known.
absl::Status WithRetryHint(const absl::Status& status, const std::string& job);

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_COMMANDS_RETRY_HINT_H_
