#include "services/compiler/adapters/sandbox/seccomp_filter.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace kernelmill::compiler {
namespace {

// The basic idea: calls are allowed by a list; each other call fails or kills. Calls that no
// compiler makes by accident, and that an attack needs, kill the process, so that the attack is
// seen in the report (kDeadly). Calls beyond the last known one fail with ENOSYS, as on an older
// kernel, so that the C library falls back. All others fail with EPERM, which programs handle.
//
// A filter cannot read memory, so it decides by numbers and flags only; paths are Landlock's part
// (landlock.cc). It is inherited and cannot be removed.
constexpr uint32_t kX32Bit = 0x40000000;
// The last call of the oldest kernel that the sandbox runs on (5.19). Later calls count as unknown.
constexpr uint32_t kLastKnown = 450;

constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t kKill = SECCOMP_RET_KILL_PROCESS;
constexpr uint32_t Fail(int error) { return SECCOMP_RET_ERRNO | static_cast<uint32_t>(error); }

constexpr int kAllowed[] = {
    // files
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev,
    SYS_preadv2, SYS_pwritev2, SYS_creat, SYS_close, SYS_close_range, SYS_stat, SYS_fstat,
    SYS_lstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_access, SYS_faccessat,
    SYS_faccessat2, SYS_readlink, SYS_readlinkat, SYS_getdents, SYS_getdents64, SYS_lseek, SYS_dup,
    SYS_dup2, SYS_dup3, SYS_pipe, SYS_pipe2, SYS_flock, SYS_fsync, SYS_fdatasync, SYS_ftruncate,
    SYS_fadvise64, SYS_sendfile, SYS_copy_file_range, SYS_rename, SYS_renameat, SYS_renameat2,
    SYS_mkdir, SYS_mkdirat, SYS_rmdir, SYS_link, SYS_linkat, SYS_symlink, SYS_symlinkat, SYS_unlink,
    SYS_unlinkat, SYS_chdir, SYS_fchdir, SYS_getcwd, SYS_umask, SYS_chmod, SYS_fchmod, SYS_fchmodat,
    // waiting
    SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6, SYS_epoll_create, SYS_epoll_create1,
    SYS_epoll_ctl, SYS_epoll_wait, SYS_epoll_pwait, SYS_eventfd, SYS_eventfd2, SYS_pause,
    SYS_nanosleep, SYS_clock_nanosleep, SYS_restart_syscall,
    // memory
    SYS_mmap, SYS_mprotect, SYS_munmap, SYS_mremap, SYS_msync, SYS_mincore, SYS_madvise, SYS_brk,
    // processes
    SYS_fork, SYS_vfork, SYS_execve, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid, SYS_getpid,
    SYS_gettid, SYS_getppid, SYS_getpgrp, SYS_getpgid, SYS_setpgid, SYS_getsid, SYS_getuid,
    SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getresuid, SYS_getresgid, SYS_getgroups,
    SYS_set_tid_address, SYS_set_robust_list, SYS_rseq, SYS_arch_prctl, SYS_futex, SYS_membarrier,
    SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_getparam, SYS_sched_getscheduler,
    SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_getcpu, SYS_getpriority,
    SYS_getrlimit, SYS_setrlimit, SYS_getrusage,
    // signals
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending, SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait, SYS_sigaltstack, SYS_kill, SYS_tgkill, SYS_alarm, SYS_setitimer,
    SYS_getitimer,
    // time and the machine
    SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_time, SYS_times, SYS_sysinfo,
    SYS_uname, SYS_getrandom,
    // sandbox.py confines each kernel further
    SYS_seccomp, SYS_landlock_create_ruleset, SYS_landlock_add_rule, SYS_landlock_restrict_self};

constexpr int kDeadly[] = {SYS_ptrace,
                           SYS_process_vm_readv,
                           SYS_process_vm_writev,
                           SYS_pidfd_getfd,
                           SYS_kexec_load,
                           SYS_kexec_file_load,
                           SYS_init_module,
                           SYS_finit_module,
                           SYS_delete_module,
                           SYS_bpf,
                           SYS_perf_event_open,
                           SYS_userfaultfd,
                           SYS_io_uring_setup,
                           SYS_io_uring_enter,
                           SYS_io_uring_register,
                           SYS_mount,
                           SYS_umount2,
                           SYS_pivot_root,
                           SYS_move_mount,
                           SYS_open_tree,
                           SYS_fsopen,
                           SYS_fsmount,
                           SYS_fsconfig,
                           SYS_fspick,
                           SYS_mount_setattr,
                           SYS_chroot,
                           SYS_unshare,
                           SYS_setns,
                           SYS_keyctl,
                           SYS_add_key,
                           SYS_request_key,
                           SYS_modify_ldt,
                           SYS_iopl,
                           SYS_ioperm,
                           SYS_reboot,
                           SYS_swapon,
                           SYS_swapoff,
                           SYS_open_by_handle_at};

// Calls for which the C library has a fallback if they do not exist.
constexpr int kAbsent[] = {SYS_clone3, SYS_openat2};

// Threads and processes may be made, namespaces may not; nor may a child escape from its parent.
constexpr uint32_t kForbiddenClone = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                     CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_PARENT |
                                     CLONE_PTRACE | CLONE_UNTRACED;

constexpr size_t LowHalf(int argument) {
  return offsetof(seccomp_data, args) + 8 * static_cast<size_t>(argument);
}

// A writer of the BPF program. Each rule is a block that begins with "is it this call?", jumps past
// its end if not, and returns a verdict otherwise. So the number of the call stays in the
// accumulator from block to block. Jump distances count instructions after the jump.
class FilterWriter {
 public:
  explicit FilterWriter(uint32_t refusal) : refusal_(refusal) {}

  // Kills calls of another architecture and of x32, whose numbers mean other calls.
  void Begin() {
    Load(offsetof(seccomp_data, arch));
    JumpEqual(AUDIT_ARCH_X86_64, 1, 0);
    Return(kKill);
    Load(offsetof(seccomp_data, nr));
    Jump(BPF_JGE, kX32Bit, 0, 1);
    Return(kKill);
  }

  void Verdict(int call, uint32_t verdict) {
    JumpEqual(call, 0, 1);
    Return(verdict);
  }

  // Returns `verdict` if the argument is one of `values`, and `otherwise` if not. The kernel reads
  // 32 bits of each such argument.
  void IfAny(int call, int argument, std::initializer_list<uint32_t> values, uint32_t verdict,
             uint32_t otherwise) {
    const auto n = static_cast<uint8_t>(values.size());
    JumpEqual(call, 0, static_cast<uint8_t>(n + 3));
    Load(LowHalf(argument));
    uint8_t left = n;
    for (const uint32_t value : values) JumpEqual(value, left--, 0);
    Return(otherwise);
    Return(verdict);
  }

  // Returns `verdict` if any bit of `mask` is set in the argument, and allows the call if not.
  void IfAnyBit(int call, int argument, uint32_t mask, uint32_t verdict) {
    JumpEqual(call, 0, 4);
    Load(LowHalf(argument));
    Jump(BPF_JSET, mask, 0, 1);
    Return(verdict);
    Return(kAllow);
  }

  // Fails if the flags of open(2) truncate in a mode that does not write, or use mode 3, which can
  // truncate too and for which Landlock checks no right.
  void NoBareTruncate(int call, int argument) {
    JumpEqual(call, 0, 7);
    Load(LowHalf(argument));
    Jump(BPF_JSET, O_WRONLY, 0, 1);
    Jump(BPF_JSET, O_RDWR, 2, 3);
    Jump(BPF_JSET, O_RDWR, 2, 0);
    Jump(BPF_JSET, O_TRUNC, 0, 1);
    Return(refusal_);
    Return(kAllow);
  }

  std::vector<sock_filter> End() {
    Jump(BPF_JGT, kLastKnown, 0, 1);
    Return(Fail(ENOSYS));
    Return(refusal_);
    return std::move(program_);
  }

 private:
  void Load(size_t offset) {
    program_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)));
  }
  void Return(uint32_t verdict) { program_.push_back(BPF_STMT(BPF_RET | BPF_K, verdict)); }
  void Jump(uint16_t how, uint32_t value, uint8_t if_true, uint8_t if_false) {
    program_.push_back(
        BPF_JUMP(static_cast<uint16_t>(BPF_JMP | how | BPF_K), value, if_true, if_false));
  }
  void JumpEqual(uint32_t value, uint8_t if_true, uint8_t if_false) {
    Jump(BPF_JEQ, value, if_true, if_false);
  }

  const uint32_t refusal_;
  std::vector<sock_filter> program_;
};

}  // namespace

std::vector<sock_filter> MakeSeccompFilter(Refused refused) {
  const uint32_t refusal = refused == Refused::kKills ? kKill : Fail(EPERM);
  FilterWriter filter(refusal);
  filter.Begin();
  // Rules on arguments come first: the first verdict on a call decides.
  filter.NoBareTruncate(SYS_open, 1);
  filter.NoBareTruncate(SYS_openat, 2);
  filter.IfAnyBit(SYS_clone, 0, kForbiddenClone, refusal);
  filter.IfAny(SYS_prlimit64, 0, {0}, kAllow, refusal);
  filter.IfAny(SYS_fcntl, 1, {F_SETOWN, F_SETOWN_EX, F_SETSIG, F_NOTIFY, F_SETLEASE}, refusal,
               kAllow);
  filter.IfAny(SYS_ioctl, 1, {TCGETS, FIONREAD, FIOCLEX, FIONCLEX, FIONBIO, TIOCGWINSZ}, kAllow,
               Fail(ENOTTY));
  filter.IfAny(SYS_prctl, 0,
               {PR_SET_NAME, PR_GET_NAME, PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_SET_DUMPABLE,
                PR_GET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_SET_SECCOMP,
                PR_GET_SECCOMP, PR_SET_VMA, PR_SET_CHILD_SUBREAPER},
               kAllow, refusal);
  for (const int call : kAllowed) filter.Verdict(call, kAllow);
  for (const int call : kDeadly) filter.Verdict(call, kKill);
  filter.Verdict(SYS_fallocate, Fail(EOPNOTSUPP));
  for (const int call : kAbsent) filter.Verdict(call, Fail(ENOSYS));
  return filter.End();
}

}  // namespace kernelmill::compiler
