#ifndef KERNELMILL_CLIENT_CONSOLE_EXIT_CODE_H_
#define KERNELMILL_CLIENT_CONSOLE_EXIT_CODE_H_

#include <string>

#include "absl/status/status.h"
#include "kernelmill/v1/crawl.pb.h"

namespace kernelmill::client {

// What the program exits with.
enum ExitCode {
  kDone = 0,
  kInputsFailed = 1,  // finished, but some inputs failed or a gate is missed; or it could not be
                      // finished; or what was compared is different
  kRequestWrong = 2,
  kOutOfReach = 3,
  kInterrupted = 130,  // by the user, as shells have it
};

// Of an error: the request is wrong (2), the cluster is out of reach (3), anything else (1).
int ExitCodeOf(const absl::Status& status);

// Of a job that has ended.
int ExitCodeOf(const v1::JobStatus& status);

// Whether it stands for a gate that the job's dataset misses, and for no input.
bool IsMissedGate(const v1::Failure& failure);

// An error as one line, without a newline at its end.
std::string ErrorLine(const absl::Status& status);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CONSOLE_EXIT_CODE_H_
