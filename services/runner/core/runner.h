#ifndef KERNELMILL_SERVICES_RUNNER_CORE_RUNNER_H_
#define KERNELMILL_SERVICES_RUNNER_CORE_RUNNER_H_

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::runner {

// Kernels that run their cases on a device. Not thread-safe; one call of Run, last.
class Execution {
 public:
  virtual ~Execution() = default;

  virtual absl::Status AddKernel(const v1::Kernel& kernel) = 0;
  // Adds a case of a kernel: a line of evidence.
  virtual absl::Status AddCase(absl::string_view line) = 0;
  // Adds a tensor that cases name by its SHA-256.
  virtual absl::Status AddTensor(const std::string& sha256, absl::string_view bytes) = 0;

  // Runs all cases, and calls `on_result` with each result as soon as it is known: a line of
  // evidence. A line that only claims to be a case has no result. UNAVAILABLE: the machine cannot
  // now. CANCELLED: `stop`; within seconds nothing that was started is alive.
  virtual absl::Status Run(const std::function<void(absl::string_view line)>& on_result,
                           const std::stop_token& stop) = 0;
};

// A device of this machine. Thread-safe.
class Runner {
 public:
  virtual ~Runner() = default;

  virtual const std::string& device() const = 0;
  // Returns the versions that run the kernels, as JSON with sorted keys and without blanks.
  virtual const std::string& toolchain() const = 0;
  virtual absl::StatusOr<std::unique_ptr<Execution>> NewExecution() = 0;
};

}  // namespace kernelmill::runner

#endif  // KERNELMILL_SERVICES_RUNNER_CORE_RUNNER_H_
