#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SECCOMP_FILTER_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SECCOMP_FILTER_H_

#include <linux/filter.h>

#include <vector>

namespace kernelmill::compiler {

// Makes the seccomp filter of a confined process and its descendants: a BPF program, for x86-64
// only, that decides on every system call.
//
// The basic idea: a list of the calls that Python, LLVM and ptxas need. All others fail with EPERM.
// Calls that are newer than kLastKnown fail with ENOSYS, as on an older kernel, so that the C
// library falls back to older ones. Calls that no compiler makes and that attacks begin with
// (ptrace, mount, bpf, ...) kill the process. So do calls of another architecture (x32, i386),
// whose numbers have other meanings. Some calls depend on their arguments:
//
// clang-format off
//   fallocate     fails with EOPNOTSUPP: it takes a disk's blocks faster than any bound is polled
//   clone         no new namespaces, no CLONE_PARENT, CLONE_PTRACE or CLONE_UNTRACED. clone3, whose
//                 arguments a filter cannot see, fails with ENOSYS; the C library then calls clone
//   prlimit64     only for the caller: Linux lets a process set limits of its user's other processes
//   fcntl         no F_SETOWN, F_SETOWN_EX or F_SETSIG, which make the kernel signal other processes
//   ioctl         only: is it a terminal, bytes to read, close-on-exec, non-blocking
//   open, openat  O_TRUNC needs a mode that writes, since Landlock before version 3 (Linux 6.2) has
//                 no right to truncate. Mode 3, which Landlock sees as neither read nor write, is
//                 refused
//   prctl         names, the death signal, the dumpable flag, another filter, and queries
// clang-format on
//
// setsid is forbidden, since the watcher finds descendants by their session. So are memfd_create,
// System V segments and sockets: no bound counts their memory.
//
// A strict filter (kKills) kills where the usual one fails with EPERM, so that no code under it can
// hide a refusal (sandbox.py).
enum class Refused { kFails, kKills };
std::vector<sock_filter> MakeSeccompFilter(Refused refused = Refused::kFails);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SECCOMP_FILTER_H_
