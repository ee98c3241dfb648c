#ifndef KERNELMILL_SERVICES_CLI_CORE_PATIENCE_H_
#define KERNELMILL_SERVICES_CLI_CORE_PATIENCE_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace kernelmill::cli {

// How long to try to reach a server that does not answer.
struct Patience {
  absl::Duration time = absl::Seconds(10);
  // Called once, before the second try.
  std::function<void(const absl::Status&)> on_away = [](const absl::Status&) {};
};

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_CORE_PATIENCE_H_
