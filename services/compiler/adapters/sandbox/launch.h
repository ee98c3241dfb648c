#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_LAUNCH_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_LAUNCH_H_

#include <linux/filter.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "services/compiler/adapters/sandbox/policy.h"

namespace kernelmill::compiler {

// The step at which a launch failed, as the new process reports it.
enum class LaunchStep : int {
  kSession = 1,
  kDescriptors,
  kDirectory,
  kLimits,
  kUser,
  kNoNewPrivileges,
  kLandlock,
  kSeccomp,
  kExecute,
};

// The data that a process needs between fork and execve, prepared before the fork: in a program
// with threads, only async-signal-safe calls may follow fork, so that nothing may allocate. The
// order of steps matters: descriptors are closed before rights are given up, the user is changed
// before no_new_privs, and the filter, which forbids some of the earlier steps, comes last.
struct LaunchPlan {
  std::vector<char*> argv;  // each ends with a null pointer
  std::vector<char*> env;
  std::vector<int> fds;  // become 0, 1, 2, ...; all other descriptors are closed
  const char* directory = "/";
  SandboxLimits limits;
  bool confine = true;  // false: neither another user nor Landlock nor seccomp
  bool change_user = false;
  uid_t uid = 0;
  int ruleset = -1;
  std::vector<sock_filter> filter;
  int report = -1;  // gets a LaunchReport if execve is not reached
  pid_t parent = 0;
};

struct LaunchReport {
  LaunchStep step;
  int error;  // errno
};

// Becomes the program of the plan, in the child after fork. Changes the plan's descriptor numbers.
[[noreturn]] void BecomeConfined(LaunchPlan& plan);

// Returns the report as FAILED_PRECONDITION: the machine lacks what the step needs, or the program
// does not exist.
absl::Status LaunchStatus(const LaunchReport& report, const std::string& program);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_LAUNCH_H_
