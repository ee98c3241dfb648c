#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SECCOMP_FILTER_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SECCOMP_FILTER_H_

#include <linux/filter.h>

#include <vector>

namespace kernelmill::compiler {

// Which system calls a confined process and all that descends of it may make: a BPF program for
// seccomp, x86-64 alone.
//
// The basic idea: a list of what Python, LLVM and ptxas need. All else fails with EPERM, numbers
// that these headers do not know with ENOSYS, as on an older kernel, so that the C library falls
// back to what they do know. Calls that no compiler ever makes and an attack begins with (ptrace,
// mount, bpf, ...) kill the process, and so do calls of another architecture (x32, i386), whose
// numbers mean other things. Some calls depend on their arguments:
//
//   clone         no new namespaces, no CLONE_PARENT, CLONE_PTRACE and CLONE_UNTRACED;
//                 clone3, whose arguments a filter cannot see, is ENOSYS, upon which the C library
//                 calls clone
//   prlimit64     of the caller alone: Linux lets a process set those of any other of its user
//   fcntl         no F_SETOWN, F_SETOWN_EX and F_SETSIG, by which the kernel sends a signal to
//                 somebody else
//   ioctl         whether it is a terminal, how much there is to read, close-on-exec, non-blocking
//   open, openat  O_TRUNC wants a mode that writes, since Landlock before ABI 3 (Linux 6.2) asks
//                 for no right to truncate; the mode 3 neither reads nor writes for Landlock, and
//                 is refused
//   prctl         names, the death signal, the dumpable flag, a further filter, and what only asks
//
// setsid is not allowed: the session is what the watcher finds descendants by. Memory that no bound
// sees is not allowed either: memfd_create, System V segments, sockets.
std::vector<sock_filter> MakeSeccompFilter();

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SECCOMP_FILTER_H_
