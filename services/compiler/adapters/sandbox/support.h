#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SUPPORT_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SUPPORT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace kernelmill::compiler {

// What of the sandbox a machine can do.
struct SandboxSupport {
  bool x86_64 = false;
  int landlock_abi = 0;
  bool seccomp = false;  // filters, and their verdict KILL_PROCESS
  bool close_range = false;
  bool pidfd = false;
  bool proc = false;         // /proc shows confined processes: the watcher finds descendants there
  bool change_user = false;  // not root, or root that may become somebody else
};

SandboxSupport ProbeSandbox();

// FAILED_PRECONDITION: something is missing; the message names each piece and what has it.
absl::Status StatusOf(const SandboxSupport& support);

// Whether this machine can confine a stranger's code, for a worker to ask before it takes work.
inline absl::Status CheckSandbox() { return StatusOf(ProbeSandbox()); }

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SUPPORT_H_
