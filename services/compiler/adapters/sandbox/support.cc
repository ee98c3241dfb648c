#include "services/compiler/adapters/sandbox/support.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/file.h"
#include "services/compiler/adapters/sandbox/landlock.h"
#include "services/compiler/adapters/sandbox/launch.h"
#include "services/compiler/adapters/sandbox/policy.h"

namespace kernelmill::compiler {
namespace {

bool HasSeccomp() {
  const unsigned verdict = SECCOMP_RET_KILL_PROCESS;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &verdict) == 0;
}

// Checks that /proc shows a process that is not dumpable, as confined ones are. With hidepid it
// does not, and the watcher would not see any descendants.
bool ShowsProcesses() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return false;
  const FileDescriptor read(fds[0]);
  FileDescriptor write(fds[1]);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const char ready = ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 1 : 0;
    [[maybe_unused]] const ssize_t written = ::write(write.get(), &ready, 1);
    while (true) ::pause();
  }
  write.Close();
  if (pid < 0) return false;
  char ready = 0;
  const bool shown = ::read(read.get(), &ready, 1) == 1 && ready == 1 &&
                     ::access(absl::StrCat("/proc/", pid, "/stat").c_str(), R_OK) == 0;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return shown;
}

// Waits for a child of fork. Returns whether it exits with 0.
bool EndsWell(pid_t pid) {
  int status = 1;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return pid > 0 && status == 0;
}

// Tries to change the user in a child process: root of a container may lack the capability.
bool MayChangeUser() {
  if (::geteuid() != 0) return true;
  const uid_t uid = Policy().uid;
  const pid_t pid = ::fork();
  if (pid == 0) {
    const bool may = ::syscall(SYS_setgroups, 0, nullptr) == 0 &&
                     ::syscall(SYS_setresgid, uid, uid, uid) == 0 &&
                     ::syscall(SYS_setresuid, uid, uid, uid) == 0;
    ::_exit(may ? 0 : 1);
  }
  return EndsWell(pid);
}

}  // namespace

bool MayMountScratch(const std::string& folder) {
  const PrivateScratch scratch = MakePrivateScratch(Policy().uid, SandboxLimits());
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(MountScratch(scratch, folder.c_str()) ? 0 : 1);
  return EndsWell(pid);
}

// The basic idea: tries each feature instead of comparing kernel versions, because distributions
// backport and containers forbid. A child process tries the calls that change a process.
SandboxSupport ProbeSandbox() {
  SandboxSupport support;
#ifdef __x86_64__
  support.x86_64 = true;
#endif
  support.landlock_abi = LandlockAbi();
  support.seccomp = HasSeccomp();
  // Closes an empty range, which fails only if the call is missing.
  support.close_range = ::syscall(SYS_close_range, UINT_MAX, UINT_MAX, 0) == 0;
  support.pidfd =
      FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))).is_open();
  support.proc = ShowsProcesses();
  support.change_user = MayChangeUser();
  return support;
}

// Names everything that is missing, not only the first, so that an administrator can change it at
// once.
absl::Status ToStatus(const SandboxSupport& support) {
  std::vector<std::string> missing;
  if (!support.x86_64) missing.push_back("an x86-64 processor");
  if (support.landlock_abi < kMinLandlockAbi) {
    missing.push_back(absl::StrCat("Landlock ABI ", kMinLandlockAbi,
                                   " (Linux 5.19 with `landlock` among its security modules; this "
                                   "machine has ABI ",
                                   support.landlock_abi, ")"));
  }
  if (!support.seccomp) missing.push_back("seccomp filters (Linux 4.14, CONFIG_SECCOMP_FILTER)");
  if (!support.close_range) missing.push_back("close_range (Linux 5.9)");
  if (!support.pidfd) missing.push_back("pidfd_open (Linux 5.3)");
  if (!support.proc) missing.push_back("a /proc that shows all processes (no hidepid)");
  if (!support.change_user) {
    missing.push_back(
        "the right to change its user (CAP_SETUID and CAP_SETGID; or do not run the worker as "
        "root)");
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "this machine cannot confine compilers: it lacks ", absl::StrJoin(missing, "; ")));
}

}  // namespace kernelmill::compiler
