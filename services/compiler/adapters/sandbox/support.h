#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SUPPORT_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SUPPORT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace kernelmill::compiler {

// The parts of the sandbox that a machine supports.
struct SandboxSupport {
  bool x86_64 = false;
  int landlock_abi = 0;
  bool seccomp = false;  // filters with the verdict KILL_PROCESS
  bool close_range = false;
  bool pidfd = false;
  bool proc = false;         // /proc shows confined processes, for the watcher
  bool change_user = false;  // not root, or root that may become another user
};

// Returns whether a process that this one forks may mount a file system on `folder` that no other
// process sees. It forks once. Thread-safe.
bool MayMountScratch(const std::string& folder);

// Tries out each part. Forks twice for a moment. Thread-safe.
SandboxSupport ProbeSandbox();

// Returns FAILED_PRECONDITION if a part is missing. The message names each, and how to get it.
absl::Status ToStatus(const SandboxSupport& support);

// Checks that this machine can confine untrusted code. A worker calls it before it takes work.
inline absl::Status CheckSandbox() { return ToStatus(ProbeSandbox()); }

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SUPPORT_H_
