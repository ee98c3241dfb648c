#ifndef KERNELMILL_CLIENT_CONSOLE_EXIT_CODE_H_
#define KERNELMILL_CLIENT_CONSOLE_EXIT_CODE_H_

#include <string>

#include "absl/status/status.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::client {

// The exit codes of the program.
enum ExitCode {
  kDone = 0,
  kInputsFailed = 1,  // some inputs failed, a gate is missed, compared things differ, or the
                      // command could not finish
  kRequestWrong = 2,
  kOutOfReach = 3,
  kInterrupted = 130,  // by the user; shells use the same code
};

// Returns 2 if the request is wrong, 3 if the cluster cannot be reached, and 1 for other errors.
int ToExitCode(const absl::Status& status);

// Returns the exit code for a job that has ended.
int ToExitCode(const v1::JobStatus& status);

// Returns whether the failure is a gate that the dataset misses, and not a failed input.
bool IsMissedGate(const v1::Failure& failure);

// Returns whether the failure is something that matches nothing (common/manifest/unmatched.h), and
// not a failed input.
bool IsUnmatched(const v1::Failure& failure);

// Returns an error as one line, without a newline at its end.
std::string ErrorLine(const absl::Status& status);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_EXIT_CODE_H_
