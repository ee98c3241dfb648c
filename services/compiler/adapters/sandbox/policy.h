#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_POLICY_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_POLICY_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace kernelmill::compiler {

// Bounds of a confined process and all that descends of it. Those of a process are the kernel's
// (rlimits) and exact. Those of all together are polled every `poll_period`: between two polls they
// can be overrun.
struct SandboxLimits {
  int64_t address_space_bytes = int64_t{8} << 30;  // of each process
  int64_t file_bytes = int64_t{256} << 20;         // of each file that is written
  int open_files = 256;                            // of each process
  int64_t cpu_seconds = int64_t{24} * 3600;  // of each process; sandbox.py has those of a kernel
  int64_t total_memory_bytes = int64_t{5}
                               << 30;        // resident; shared pages count once for each process
  int total_tasks = 256;                     // threads of all processes
  int64_t scratch_bytes = int64_t{1} << 30;  // on the disk
  int scratch_entries = 4096;                // files, folders, links
  absl::Duration poll_period = absl::Milliseconds(100);
};

// What a confined process may reach. Everything that is not named is refused: other files, every
// socket, other processes.
struct Policy {
  std::vector<std::string> read;     // files and folders with all below; each must exist
  std::vector<std::string> execute;  // likewise: read and execute
  // An existing folder in which each process gets a scratch folder of its own: the only place that
  // it can write to. A worker that is root drops to `uid`, which must be able to pass through it
  // and all above it.
  std::string scratch_parent;
  // As whom the process runs when the worker is root; ignored otherwise. Each has its own:
  // SandboxUser.
  uid_t uid = 60578;
  SandboxLimits limits;
  // Neither Landlock, seccomp nor another user: for machines that cannot, by the operator's
  // explicit word alone
  // (--unsafe-no-sandbox). Limits and the watcher remain.
  bool unsafe_no_sandbox = false;
};

// The policy that the Python environment (a venv) in `environment` needs to run and to load what is
// installed in it: the environment is read and executed, so are its base interpreter and the
// dynamic loader; the system's shared libraries and the base interpreter's modules are read.
// Programs of the system, such as sh, can be neither read nor executed. NOT_FOUND: there is no
// bin/python3 in it. Limits and scratch_parent are left to the caller.
absl::StatusOr<Policy> PythonPolicy(const std::string& environment);

// Likewise for a plain interpreter, which is no venv's.
absl::StatusOr<Policy> InterpreterPolicy(const std::string& python);

// INVALID_ARGUMENT: relative paths, a bound that is not positive, a user that is root.
absl::Status CheckPolicy(const Policy& policy);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_POLICY_H_
