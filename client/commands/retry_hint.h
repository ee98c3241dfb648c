#ifndef KERNELMILL_CLIENT_COMMANDS_RETRY_HINT_H_
#define KERNELMILL_CLIENT_COMMANDS_RETRY_HINT_H_

#include <string>

#include "absl/status/status.h"

namespace kernelmill::client {

// Of a command that reads a dataset: where the store lost something of it, says what mends that.
// `job` may be empty where it is not known.
absl::Status WithRetryHint(const absl::Status& status, const std::string& job);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_RETRY_HINT_H_
