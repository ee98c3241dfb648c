#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SANDBOX_USER_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SANDBOX_USER_H_

#include <sys/types.h>

#include <utility>

#include "common/base/file.h"

namespace kernelmill::compiler {

// A user for Policy.uid that no other confined process of this machine has, as long as this object
// lives: Linux counts processes by user (RLIMIT_NPROC), and what one kernel starts must not be
// missing to another's. The name is held by an abstract socket, which goes with the process; a
// container with a network of its own does not see the others', so that a fork that fails there may
// be a neighbour's doing. Movable.
class SandboxUser {
 public:
  // The first that is free of those that systemd and Debian leave unused (60578 to 60705); where
  // all are taken, the last. A worker that is not root needs none: its compilers are its own.
  static SandboxUser Take();

  uid_t uid() const { return uid_; }

 private:
  SandboxUser(uid_t uid, FileDescriptor name) : uid_(uid), name_(std::move(name)) {}

  uid_t uid_;
  FileDescriptor name_;
};

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SANDBOX_USER_H_
