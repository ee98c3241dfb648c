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
  kScratch,
  kDirectory,
  kLimits,
  kUser,
  kNoNewPrivileges,
  kLandlock,
  kSeccomp,
  kExecute,
};

// The file system that a process mounts on its scratch folder, in a mount namespace of its own: a
// tmpfs of bounded size, so that nothing it writes reaches a disk. The options are for mount(2);
// empty: none is mounted.
struct PrivateScratch {
  std::string options;
  // A user who is not root mounts in a user namespace of its own, and writes these to
  // /proc/self/uid_map and gid_map. Empty for root.
  std::string uid_map, gid_map;
};

// The data that a process needs between fork and execve, prepared before the fork: in a program
// with threads, only async-signal-safe calls may follow fork, so that nothing may allocate. The
// order of steps matters: descriptors are closed before rights are given up, the user is changed
// before no_new_privs, and the filter, which forbids some of the earlier steps, comes last.
struct LaunchPlan {
  std::vector<char*> argv;  // each ends with a null pointer
  std::vector<char*> env;
  std::vector<int> fds;         // become 0, 1, 2, ...; all other descriptors are closed
  const char* directory = "/";  // the scratch folder
  PrivateScratch scratch;
  uint64_t scratch_access = 0;  // Landlock's rights there
  SandboxLimits limits;
  bool confine = true;  // false: neither another user nor Landlock nor seccomp
  bool change_user = false;
  uid_t uid = 0;
  int ruleset = -1;
  std::vector<sock_filter> filter;
  // A socket. It gets the open folder of a private scratch, and a LaunchReport if execve is not
  // reached.
  int report = -1;
  pid_t parent = 0;
};

struct LaunchReport {
  LaunchStep step;
  int error;  // errno
};

// Returns the file system of a scratch folder for `uid`, or for the caller's user if it is not
// root.
PrivateScratch MakePrivateScratch(uid_t uid, const SandboxLimits& limits);

// Makes a mount namespace for the calling process, which has one thread, and mounts the file system
// on `folder`. Returns false with errno set, and the process may then be good for nothing else.
// Async-signal-safe.
bool MountScratch(const PrivateScratch& scratch, const char* folder);

// Becomes the program of the plan, in the child after fork. Changes the plan's descriptor numbers.
[[noreturn]] void BecomeConfined(LaunchPlan& plan);

// Returns the report as FAILED_PRECONDITION: the machine lacks what the step needs, or the program
// does not exist.
absl::Status LaunchStatus(const LaunchReport& report, const std::string& program);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_LAUNCH_H_
