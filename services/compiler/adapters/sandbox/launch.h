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

// Where a launch failed, as the new process reports it.
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

// All that a process does between fork and execve, made ready before: in a program with threads
// only calls that are async-signal-safe may follow fork. The order matters: descriptors are closed
// before rights are given up, the user is changed before no_new_privs, and the filter, which
// refuses some of what came before, is last.
struct LaunchPlan {
  std::vector<char*> argv;  // each ends with a null pointer
  std::vector<char*> env;
  std::vector<int> fds;  // become 0, 1, 2, ...; all others are closed
  const char* directory = "/";
  SandboxLimits limits;
  bool confine = true;  // false: neither another user nor Landlock nor seccomp
  bool change_user = false;
  uid_t uid = 0;
  int ruleset = -1;
  std::vector<sock_filter> filter;
  int report = -1;  // where a LaunchReport goes if execve is not reached
  pid_t parent = 0;
};

struct LaunchReport {
  LaunchStep step;
  int error;  // errno
};

// Becomes the program of the plan, in the child after fork. Moves descriptors above `fds` and the
// report's own first.
[[noreturn]] void BecomeConfined(LaunchPlan& plan);

// What the report means. FAILED_PRECONDITION: the machine lacks what the step needs, or there is no
// such program.
absl::Status StatusOfLaunch(const LaunchReport& report, const std::string& program);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_LAUNCH_H_
