// Code between fork and execve. The child has one thread of a process that had many: another thread
// may have held any lock at the time of the fork. So this code only makes system calls, and neither
// allocates nor logs. Each step returns false with errno set; BecomeConfined() then reports the
// step over a pipe and exits.

#include "services/compiler/adapters/sandbox/launch.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "services/compiler/adapters/sandbox/landlock.h"

namespace kernelmill::compiler {
namespace {

constexpr int kCannotStart = 127;  // the exit code of a shell for a program that it cannot start

// Reports the failed step and errno, and exits.
[[noreturn]] void Report(const LaunchPlan& plan, LaunchStep step) {
  const LaunchReport report = {step, errno};
  [[maybe_unused]] const ssize_t written = ::write(plan.report, &report, sizeof(report));
  ::_exit(kCannotStart);
}

// Starts a session, by which the watcher finds descendants. Arranges to die with the parent's
// thread; the check of getppid covers a parent that died before prctl.
bool EnterSession(const LaunchPlan& plan) {
  if (::setsid() < 0 || ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return false;
  if (::getppid() != plan.parent) ::_exit(kCannotStart);
  // Adopts orphans among the descendants, in place of the machine's first process.
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return false;
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::umask(077);
  return ::sigprocmask(SIG_SETMASK, &none, nullptr) == 0;
}

// Gives the plan's descriptors their numbers, puts the report and the ruleset after them, and
// closes all others.
bool KeepDescriptors(LaunchPlan& plan) {
  const int wanted = static_cast<int>(plan.fds.size());
  // First moves every descriptor above the numbers to be given.
  const int above = wanted + 2;
  for (int& fd : plan.fds) {
    fd = ::fcntl(fd, F_DUPFD_CLOEXEC, above);
    if (fd < 0) return false;
  }
  if (plan.ruleset >= 0) plan.ruleset = ::fcntl(plan.ruleset, F_DUPFD_CLOEXEC, above);
  const int report = ::fcntl(plan.report, F_DUPFD_CLOEXEC, above);
  if (report < 0 || ::dup3(report, wanted, O_CLOEXEC) < 0) return false;
  plan.report = wanted;
  if (plan.ruleset >= 0) {
    if (::dup3(plan.ruleset, wanted + 1, O_CLOEXEC) < 0) return false;
    plan.ruleset = wanted + 1;
  }
  for (int number = 0; number < wanted; ++number) {
    if (::dup2(plan.fds[number], number) < 0) return false;
  }
  const unsigned first = static_cast<unsigned>(plan.ruleset >= 0 ? wanted + 2 : wanted + 1);
  return ::syscall(SYS_close_range, first, UINT_MAX, 0) == 0;
}

// Sets a resource limit, soft and hard, but not above the current hard limit.
bool Limit(__rlimit_resource resource, int64_t value) {
  rlimit now;
  if (::getrlimit(resource, &now) != 0) return false;
  auto wanted = static_cast<rlim_t>(value);
  if (now.rlim_max != RLIM_INFINITY && wanted > now.rlim_max) wanted = now.rlim_max;
  const rlimit limit = {wanted, wanted};
  return ::setrlimit(resource, &limit) == 0;
}

// With a limit of 0, Linux still passes a crash with all its memory to the machine's core handler,
// if there is one. A limit of 1 disables that too.
constexpr int64_t kNoCore = 1;

// Makes the kernel kill this process and its children, not the worker, when memory runs out. A
// failure is ignored: not every machine allows it.
void BeKilledFirst() {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t written = ::write(fd, "1000", 4);
  ::close(fd);
}

bool SetLimits(const LaunchPlan& plan) {
  const SandboxLimits& limits = plan.limits;
  // Linux counts processes by user, so that the worker's own user would include its threads. The
  // watcher has the lower limit; this one stops a fork bomb between two polls.
  if (plan.change_user && !Limit(RLIMIT_NPROC, int64_t{16} * limits.total_tasks)) return false;
  return Limit(RLIMIT_AS, limits.address_space_bytes) && Limit(RLIMIT_FSIZE, limits.file_bytes) &&
         Limit(RLIMIT_NOFILE, limits.open_files) && Limit(RLIMIT_CPU, limits.cpu_seconds) &&
         Limit(RLIMIT_CORE, kNoCore) && Limit(RLIMIT_MEMLOCK, 0) && Limit(RLIMIT_MSGQUEUE, 0);
}

bool HoldsNone(const __user_cap_data_struct& held) {
  return (held.effective | held.permitted | held.inheritable) == 0;
}

// Changes the user and drops all capabilities. Uses raw system calls: the C library's functions
// would signal the other threads, which do not exist in the child.
bool ChangeUser(const LaunchPlan& plan) {
  if (plan.change_user) {
    const auto id = static_cast<unsigned long>(plan.uid);
    if (::syscall(SYS_setgroups, 0, nullptr) != 0 || ::syscall(SYS_setresgid, id, id, id) != 0 ||
        ::syscall(SYS_setresuid, id, id, id) != 0) {
      return false;
    }
    // The change of user cleared the death signal.
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return false;
    if (::getppid() != plan.parent) ::_exit(kCannotStart);
  }
  // A user who is not root may hold capabilities too.
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct held[2] = {};
  if (::syscall(SYS_capget, &header, held) != 0) return false;
  // Without capabilities, capset is not needed, and may be forbidden (systemd's @privileged).
  if (HoldsNone(held[0]) && HoldsNone(held[1])) return true;
  const __user_cap_data_struct nothing[2] = {};
  return ::syscall(SYS_capset, &header, nothing) == 0;
}

bool WriteText(const char* path, const char* text, size_t size) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, text, size) == static_cast<ssize_t>(size);
  ::close(fd);
  return written;
}

// Sends the scratch folder to the watcher, which cannot see it otherwise.
bool SendFolder(int report, int folder) {
  char byte = 0;
  iovec part = {&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof(space);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &folder, sizeof(int));
  return ::sendmsg(report, &message, MSG_NOSIGNAL) == 1;
}

// Opens the scratch folder as the new user, so that one that it cannot enter is reported here, and
// allows it in the ruleset.
bool EnterScratch(const LaunchPlan& plan) {
  if (::chdir(plan.directory) != 0) return false;
  const int folder = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  if (!plan.scratch.options.empty() && !SendFolder(plan.report, folder)) return false;
  const bool allowed = plan.ruleset < 0 || AllowFolder(plan.ruleset, folder, plan.scratch_access);
  ::close(folder);
  return allowed;
}

bool InstallFilter(LaunchPlan& plan) {
  const sock_fprog program = {static_cast<unsigned short>(plan.filter.size()), plan.filter.data()};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

}  // namespace

// Linux counts the root of the file system as an entry.
PrivateScratch MakePrivateScratch(uid_t uid, const SandboxLimits& limits) {
  const bool root = ::geteuid() == 0;
  const uid_t owner = root ? uid : ::geteuid();
  const gid_t group = root ? static_cast<gid_t>(uid) : ::getegid();
  PrivateScratch scratch;
  scratch.options =
      absl::StrCat("mode=0700,size=", limits.scratch_bytes,
                   ",nr_inodes=", limits.scratch_entries + 1, ",uid=", owner, ",gid=", group);
  if (!root) {
    scratch.uid_map = absl::StrCat(owner, " ", owner, " 1\n");
    scratch.gid_map = absl::StrCat(group, " ", group, " 1\n");
  }
  return scratch;
}

// Mounts that the machine makes or removes later still come and go in the namespace.
bool MountScratch(const PrivateScratch& scratch, const char* folder) {
  const bool own_user = !scratch.uid_map.empty();
  if (::unshare(own_user ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS) != 0) return false;
  if (own_user &&
      (!WriteText("/proc/self/setgroups", "deny", 4) ||
       !WriteText("/proc/self/uid_map", scratch.uid_map.data(), scratch.uid_map.size()) ||
       !WriteText("/proc/self/gid_map", scratch.gid_map.data(), scratch.gid_map.size()))) {
    return false;
  }
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 &&
         ::mount("kernelmill", folder, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                 scratch.options.c_str()) == 0;
}

// The order matters: the change of user needs capabilities, which it then drops. Landlock and
// seccomp need no_new_privs without capabilities. The filter forbids many of the calls above, so it
// comes last.
void BecomeConfined(LaunchPlan& plan) {
  if (!EnterSession(plan)) Report(plan, LaunchStep::kSession);
  if (!KeepDescriptors(plan)) Report(plan, LaunchStep::kDescriptors);
  if (!SetLimits(plan)) Report(plan, LaunchStep::kLimits);
  BeKilledFirst();
  if (!plan.scratch.options.empty() && !MountScratch(plan.scratch, plan.directory))
    Report(plan, LaunchStep::kScratch);
  if (plan.confine) {
    if (!ChangeUser(plan)) Report(plan, LaunchStep::kUser);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) Report(plan, LaunchStep::kNoNewPrivileges);
  }
  if (!EnterScratch(plan)) Report(plan, LaunchStep::kDirectory);
  if (plan.confine) {
    if (::syscall(SYS_landlock_restrict_self, plan.ruleset, 0) != 0)
      Report(plan, LaunchStep::kLandlock);
    ::close(plan.ruleset);
    if (!InstallFilter(plan)) Report(plan, LaunchStep::kSeccomp);
  }
  ::execve(plan.argv[0], plan.argv.data(), plan.env.data());
  Report(plan, LaunchStep::kExecute);
}

// Runs in the parent: makes the report of the child an error that tells the operator what to
// change.
absl::Status LaunchStatus(const LaunchReport& report, const std::string& program) {
  const auto because = [&](absl::string_view what) {
    return absl::FailedPreconditionError(
        absl::StrCat("the sandbox cannot start ", program, ": ", what, ": errno ", report.error));
  };
  switch (report.step) {
    case LaunchStep::kSession:
      return because("it cannot start a session");
    case LaunchStep::kDescriptors:
      return because("it cannot close other descriptors (needs close_range, Linux 5.9)");
    case LaunchStep::kScratch:
      return because("it cannot mount a file system on its scratch folder");
    case LaunchStep::kDirectory:
      return because("its user cannot enter the scratch folder");
    case LaunchStep::kLimits:
      return because("it cannot set resource limits");
    case LaunchStep::kUser:
      return because(
          "root may not change its user here (needs CAP_SETUID, CAP_SETGID); run the worker as "
          "another user");
    case LaunchStep::kNoNewPrivileges:
      return because("no_new_privs");
    case LaunchStep::kLandlock:
      return because("Landlock");
    case LaunchStep::kSeccomp:
      return because("seccomp filters");
    case LaunchStep::kExecute:
      return because("its user cannot execute it");
  }
  return because("an unknown step");
}

}  // namespace kernelmill::compiler
