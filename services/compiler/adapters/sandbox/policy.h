#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_POLICY_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_POLICY_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/file.h"

namespace kernelmill::compiler {

// Bounds of a confined process and all its descendants. The kernel enforces the bounds of one
// process exactly (rlimits). The bounds of all together are polled every `poll_period`, and can be
// exceeded between two polls.
struct SandboxLimits {
  // Bounds of one process. sandbox.py has lower ones for a kernel.
  int64_t address_space_bytes = int64_t{8} << 30;
  int64_t file_bytes = int64_t{256} << 20;  // for each written file
  int open_files = 256;
  int64_t cpu_seconds = int64_t{24} * 3600;
  // Bounds of all processes together.
  // Resident, where each process counts shared pages, and what a private scratch folder holds.
  int64_t total_memory_bytes = int64_t{5} << 30;
  int total_tasks = 256;                     // threads
  int64_t scratch_bytes = int64_t{1} << 30;  // in memory, or on the disk
  int scratch_entries = 4096;                // files, folders, links
  absl::Duration poll_period = absl::Milliseconds(100);
};

// The things that a confined process may access. Everything that is not named is refused: other
// files, all sockets, other processes.
struct Policy {
  std::vector<std::string> read;     // files, and folders with everything below; each must exist
  std::vector<std::string> execute;  // the same, to read and execute
  // An existing folder in which each process gets its own scratch folder, the only place that it
  // can write to. If the worker is root, `uid` must be able to pass through this folder and all its
  // parents.
  std::string scratch_parent;
  // The user of the process if the worker is root; ignored otherwise. Each process has its own; see
  // SandboxUser.
  uid_t uid = 60578;
  SandboxLimits limits;
  // The scratch folder is a file system in memory if the worker may mount one. Linux keeps it to
  // limits.scratch_bytes and limits.scratch_entries: a write beyond them fails with ENOSPC.
  // Elsewhere, or if this is false, it is on the disk of `scratch_parent`, and the watcher ends a
  // program that exceeds them.
  bool private_scratch = true;
  // Switches off Landlock, seccomp and the change of user, for machines that lack them. Only the
  // operator sets it, with --unsafe-no-sandbox. Limits and the watcher remain.
  bool unsafe_no_sandbox = false;
};

// Returns the policy that the Python environment (a venv) in `environment` needs to run and to load
// its packages. It may read and execute the environment, its base interpreter and the dynamic
// loader, and read the system's shared libraries and the base interpreter's modules. It can neither
// read nor execute programs of the system, such as sh. The caller sets limits and scratch_parent.
// Returns NOT_FOUND if the environment has no bin/python3.
absl::StatusOr<Policy> PythonPolicy(const std::string& environment);

// Returns the same for a plain interpreter without a venv.
absl::StatusOr<Policy> InterpreterPolicy(const std::string& python);

// Returns INVALID_ARGUMENT for a relative path, a bound that is not positive, or root as user.
absl::Status CheckPolicy(const Policy& policy);

// A user for Policy.uid that no other confined process of this machine has while this object lives.
// Linux counts processes by user (RLIMIT_NPROC), and one kernel's processes must not reduce those
// of another. An abstract socket reserves the user; Linux frees it when the process ends. A
// container with its own network does not see the reservations of others; there a neighbour can
// make a fork fail. Movable, not thread-safe.
class SandboxUser {
 public:
  // Reserves the first free user among those that systemd and Debian leave unused (60578 to 60705),
  // or shares the last one if all are taken. If the worker is not root, it returns the first
  // without a reservation: compilers then run as the worker's user.
  static SandboxUser Take();

  uid_t uid() const { return uid_; }

 private:
  SandboxUser(uid_t uid, FileDescriptor name) : uid_(uid), name_(std::move(name)) {}

  uid_t uid_;
  FileDescriptor name_;
};

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_POLICY_H_
