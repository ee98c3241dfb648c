#include "services/compiler/adapters/sandbox/seccomp_filter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace kernelmill::compiler {
namespace {

constexpr uint32_t kKill = SECCOMP_RET_KILL_PROCESS;
constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t Fail(int error) { return SECCOMP_RET_ERRNO | static_cast<uint32_t>(error); }

// Returns Linux's verdict on a call. Interprets the few BPF instructions that the filter uses.
uint32_t Verdict(const seccomp_data& data, Refused refused = Refused::kFails) {
  const std::vector<sock_filter> program = MakeSeccompFilter(refused);
  uint32_t accumulator = 0;
  for (size_t at = 0; at < program.size(); ++at) {
    const sock_filter& step = program[at];
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        std::memcpy(&accumulator, reinterpret_cast<const char*>(&data) + step.k, 4);
        continue;
      case BPF_RET | BPF_K:
        return step.k;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += accumulator == step.k ? step.jt : step.jf;
        continue;
      case BPF_JMP | BPF_JGE | BPF_K:
        at += accumulator >= step.k ? step.jt : step.jf;
        continue;
      case BPF_JMP | BPF_JGT | BPF_K:
        at += accumulator > step.k ? step.jt : step.jf;
        continue;
      case BPF_JMP | BPF_JSET | BPF_K:
        at += (accumulator & step.k) != 0 ? step.jt : step.jf;
        continue;
      default:
        ADD_FAILURE() << "instruction " << step.code;
        return 0;
    }
  }
  ADD_FAILURE() << "no verdict";
  return 0;
}

uint32_t Call(int number, std::initializer_list<uint64_t> arguments = {},
              uint32_t arch = AUDIT_ARCH_X86_64) {
  seccomp_data data = {};
  data.nr = number;
  data.arch = arch;
  size_t i = 0;
  for (const uint64_t argument : arguments) data.args[i++] = argument;
  return Verdict(data);
}

TEST(SeccompFilterTest, EveryNumberHasAVerdict) {
  for (int number = 0; number < 1000; ++number) Call(number);
  EXPECT_LT(MakeSeccompFilter().size(), BPF_MAXINSNS);
}

TEST(SeccompFilterTest, AStrictOneKillsWhatIsRefusedAndNothingElse) {
  for (int number = 0; number < 500; ++number) {
    for (const uint64_t argument : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
      seccomp_data data = {};
      data.nr = number;
      data.arch = AUDIT_ARCH_X86_64;
      for (auto& value : data.args) value = argument;
      const uint32_t usual = Verdict(data);
      EXPECT_EQ(Verdict(data, Refused::kKills), usual == Fail(EPERM) ? kKill : usual) << number;
    }
  }
}

TEST(SeccompFilterTest, BlocksAreNotTakenWithoutWriting) {
  EXPECT_EQ(Call(SYS_fallocate), Fail(EOPNOTSUPP));
}

TEST(SeccompFilterTest, OtherArchitecturesAreKilled) {
  EXPECT_EQ(Call(SYS_read, {}, AUDIT_ARCH_I386), kKill);
  EXPECT_EQ(Call(0x40000000 | SYS_read), kKill);
  EXPECT_EQ(Call(SYS_read), kAllow);
}

TEST(SeccompFilterTest, NoSocketIsMade) {
  for (const int call : {SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_sendto, SYS_recvmsg,
                         SYS_sendmsg, SYS_accept4}) {
    EXPECT_EQ(Call(call), Fail(EPERM)) << call;
  }
}

TEST(SeccompFilterTest, WhatAnAttackBeginsWithIsKilled) {
  for (const int call : {SYS_ptrace, SYS_mount, SYS_bpf, SYS_unshare, SYS_setns, SYS_io_uring_setup,
                         SYS_process_vm_writev, SYS_keyctl, SYS_chroot}) {
    EXPECT_EQ(Call(call), kKill) << call;
  }
}

TEST(SeccompFilterTest, UsersAndSessionsStay) {
  for (const int call :
       {SYS_setuid, SYS_setgid, SYS_setresuid, SYS_setgroups, SYS_capset, SYS_setsid, SYS_chown,
        SYS_memfd_create, SYS_shmget, SYS_pidfd_send_signal, SYS_setxattr, SYS_mknod}) {
    EXPECT_EQ(Call(call), Fail(EPERM)) << call;
  }
}

TEST(SeccompFilterTest, CallsOfLaterKernelsAreNotThere) {
  EXPECT_EQ(Call(451), Fail(ENOSYS));
  EXPECT_EQ(Call(999), Fail(ENOSYS));
  EXPECT_EQ(Call(SYS_clone3), Fail(ENOSYS));
}

TEST(SeccompFilterTest, ThreadsAreMadeAndNamespacesAreNot) {
  EXPECT_EQ(Call(SYS_clone, {CLONE_VM | CLONE_THREAD | CLONE_SIGHAND}), kAllow);
  for (const uint64_t flag :
       {CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWNS, CLONE_PARENT, CLONE_PTRACE}) {
    EXPECT_EQ(Call(SYS_clone, {flag}), Fail(EPERM)) << flag;
  }
}

TEST(SeccompFilterTest, FilesAreTruncatedOnlyToWriteThem) {
  EXPECT_EQ(Call(SYS_openat, {0, 0, O_RDONLY | O_TRUNC}), Fail(EPERM));
  EXPECT_EQ(Call(SYS_openat, {0, 0, O_WRONLY | O_TRUNC}), kAllow);
  EXPECT_EQ(Call(SYS_open, {0, O_RDONLY | O_TRUNC}), Fail(EPERM));
  EXPECT_EQ(Call(SYS_open, {0, O_RDONLY}), kAllow);
  EXPECT_EQ(Call(SYS_open, {0, O_RDWR | O_TRUNC}), kAllow);
  EXPECT_EQ(Call(SYS_open, {0, O_WRONLY}), kAllow);
  EXPECT_EQ(Call(SYS_open, {0, O_ACCMODE | O_TRUNC}), Fail(EPERM));
  EXPECT_EQ(Call(SYS_openat, {0, 0, O_ACCMODE}), Fail(EPERM));
  EXPECT_EQ(Call(SYS_truncate), Fail(EPERM));
}

TEST(SeccompFilterTest, LimitsAreOnesOwn) {
  EXPECT_EQ(Call(SYS_prlimit64, {0}), kAllow);
  EXPECT_EQ(Call(SYS_prlimit64, {1234}), Fail(EPERM));
}

TEST(SeccompFilterTest, NoDescriptorSignalsSomebody) {
  EXPECT_EQ(Call(SYS_fcntl, {3, F_GETFD}), kAllow);
  EXPECT_EQ(Call(SYS_fcntl, {3, F_SETOWN}), Fail(EPERM));
}

}  // namespace
}  // namespace kernelmill::compiler
