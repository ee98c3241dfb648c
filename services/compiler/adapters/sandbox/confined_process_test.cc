#include "services/compiler/adapters/sandbox/confined_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "services/compiler/adapters/sandbox/support.h"
#include "services/compiler/adapters/sandbox/system_python.h"

namespace kernelmill::compiler {
namespace {

using ::kernelmill::testing::IsOk;

// Runs a line of Python in the sandbox. It exits with 0 if all of it was allowed.
Ending RunPython(const std::string& code, SandboxLimits limits = {}, bool private_scratch = true) {
  SystemPython python;
  python.policy().limits = limits;
  python.policy().private_scratch = private_scratch;
  auto process =
      ConfinedProcess::Start({{kSystemPython, "-I", "-B", "-c", code}, {}, {}}, python.policy());
  EXPECT_THAT(process, IsOk());
  return process.ok() ? (*process)->Wait() : Ending();
}

// A machine that cannot confine skips these tests.
class ConfinedProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const absl::Status status = CheckSandbox(); !status.ok()) GTEST_SKIP() << status;
  }
};

// The exit codes of code that may do what it tries, and of code that lacks the rights.
constexpr int kDone = 0;
constexpr int kRefused = 13;

// `refusal`: an errno that counts as refused, besides those of the sandbox.
Ending Try(const std::string& code, int refusal = EPERM, const SandboxLimits& limits = {}) {
  return RunPython(
      absl::StrCat("import errno, socket\ntry:\n  ", code,
                   "\nexcept OSError as error:\n  raise SystemExit(13 if error.errno in "
                   "(errno.EACCES, errno.EPERM, ",
                   refusal, ") else 1)"),
      limits);
}

TEST_F(ConfinedProcessTest, ScratchIsWritten) {
  EXPECT_EQ(Try("open('a', 'w').write('x')").exit_code, kDone);
}

TEST_F(ConfinedProcessTest, FilesOutsideAndSocketsAreRefused) {
  EXPECT_EQ(Try("open('/etc/passwd')").exit_code, kRefused);
  EXPECT_EQ(Try("open('/proc/1/environ')").exit_code, kRefused);
  EXPECT_EQ(Try("open('/tmp/outside', 'w')").exit_code, kRefused);
  EXPECT_EQ(Try("socket.socket()").exit_code, kRefused);
  EXPECT_EQ(Try("socket.socket(socket.AF_UNIX)").exit_code, kRefused);
}

// A confined Python that runs until it is killed.
class RunningTest : public ConfinedProcessTest {
 protected:
  std::unique_ptr<ConfinedProcess> Start(const std::string& code) {
    auto process =
        ConfinedProcess::Start({{kSystemPython, "-I", "-c", code}, {}, {}}, python_.policy());
    EXPECT_THAT(process, IsOk());
    return *std::move(process);
  }

  SystemPython python_;
};

TEST_F(RunningTest, ItIsKilledBeforeTheWorkerWhereMemoryRunsOut) {
  const auto process = Start("import time; time.sleep(60)");
  const auto score = ReadFile(absl::StrCat("/proc/", process->pid(), "/oom_score_adj"), 100);
  ASSERT_THAT(score, IsOk());
  EXPECT_EQ(*score, "1000\n");
}

TEST_F(RunningTest, WhatSleepsInsteadOfWorkingIsEnded) {
  const auto process = Start("import time; time.sleep(600)");
  process->BeginWork(absl::Seconds(1));
  EXPECT_EQ(process->Wait().reason, EndReason::kSleep);
}

TEST_F(RunningTest, WhatStopsItselfIsEnded) {
  const auto process = Start("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)");
  process->BeginWork(absl::Seconds(1));
  EXPECT_EQ(process->Wait().reason, EndReason::kSleep);
}

TEST_F(RunningTest, AScratchFolderThatSomebodyElseRemovesIsNotItsDoing) {
  const auto process = Start("import time; time.sleep(600)");
  std::filesystem::remove_all(
      std::filesystem::read_symlink(absl::StrCat("/proc/", process->pid(), "/cwd")));
  const Ending ending = process->Wait();
  EXPECT_EQ(ending.reason, EndReason::kScratchGone) << GetName(ending.reason);
  EXPECT_FALSE(ending.limit());
}

TEST_F(RunningTest, OneThreadThatWorksIsWork) {
  const auto process = Start(
      "import threading, time\n"
      "def work():\n"
      "  until = time.monotonic() + 3\n"
      "  while time.monotonic() < until: pass\n"
      "thread = threading.Thread(target=work)\nthread.start()\nthread.join()\n");
  process->BeginWork(absl::Seconds(2));
  EXPECT_EQ(process->Wait().reason, EndReason::kExited);
}

TEST_F(RunningTest, WhatHasNoWorkMaySleep) {
  const auto process = Start("import time; time.sleep(2)");
  process->BeginWork(absl::Seconds(1));
  process->EndWork();
  EXPECT_EQ(process->Wait().reason, EndReason::kExited);
}

// Returns how many processes have `word` in their command lines.
int CountRunning(const std::string& word) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto line = ReadFile(absl::StrCat(entry.path().string(), "/cmdline"), 4000);
    if (line.ok() && absl::StrContains(*line, word)) ++count;
  }
  return count;
}

TEST_F(RunningTest, NothingOfItOutlivesAWorkerThatEndsWithoutDestroyingIt) {
  GTEST_FLAG_SET(death_test_style, "fast");
  const std::string marker = absl::StrCat("outlives-", ::getpid());
  absl::StatusOr<TempDir> folder = TempDir::Create();
  ASSERT_THAT(folder, IsOk());
  ::chmod(folder->path().c_str(), 0711);
  const auto start_and_leave = [&] {
    absl::StatusOr<Policy> policy = InterpreterPolicy("/usr/bin/python3");
    policy->scratch_parent = folder->path();
    const std::string code =
        "import os, time\nchild = os.fork()\nopen('file', 'w').close()\ntime.sleep(60)";
    auto process =
        ConfinedProcess::Start({{"/usr/bin/python3", "-I", "-c", code, marker}, {}, {}}, *policy);
    while (CountRunning(marker) < 2) absl::SleepFor(absl::Milliseconds(10));
    std::quick_exit(0);
  };
  EXPECT_EXIT(start_and_leave(), ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(CountRunning(marker), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder->path()));
}

TEST_F(RunningTest, AProcessWhoseFirstThreadHasEndedIsKilledToo) {
  int fds[2];
  ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  const FileDescriptor read(fds[0]);
  FileDescriptor write(fds[1]);
  const std::string code =
      "import ctypes, os, threading, time\n"
      "def live():\n  time.sleep(0.5)\n  os.write(1, b'x')\n  time.sleep(60)\n"
      "if os.fork() == 0:\n"
      "  threading.Thread(target=live).start()\n"
      "  ctypes.CDLL(None).syscall(60, 0)\n"
      "time.sleep(60)";
  const FileDescriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  auto process = ConfinedProcess::Start(
      {{kSystemPython, "-I", "-c", code}, {}, {null.get(), write.get()}}, python_.policy());
  ASSERT_THAT(process, IsOk());
  write.Close();
  char byte = 0;
  ASSERT_EQ(::read(read.get(), &byte, 1), 1);
  process->reset();
  pollfd end = {read.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 5000), 1) << "somebody still holds the other end";
}

// Files by 16 threads at once, as fast as Linux gives them room.
constexpr char kFill[] = R"(
import os, threading, time
def fill(n):
    for i in range(8):
        file = os.open(f"{n}-{i}", os.O_RDWR | os.O_CREAT)
        try:
            os.posix_fallocate(file, 0, 200 << 20)
        except OSError as error:
            if error.errno != 27:
                os._exit(error.errno)
for n in range(16):
    threading.Thread(target=fill, args=(n,)).start()
time.sleep(60)
)";

// Skips a test where this machine gives no process a file system of its own.
#define NEEDS_PRIVATE_SCRATCH() \
  if (!MayMountScratch("/tmp")) GTEST_SKIP() << "this user may not mount"

TEST_F(ConfinedProcessTest, APrivateScratchFolderThatIsFullHasNoSpace) {
  NEEDS_PRIVATE_SCRATCH();
  SandboxLimits limits;
  limits.scratch_bytes = 64 << 20;
  EXPECT_EQ(RunPython(kFill, limits).exit_code, ENOSPC);
  limits.scratch_entries = 50;
  EXPECT_EQ(Try("[open(str(i), 'w').close() for i in range(99)]", ENOSPC, limits).exit_code,
            kRefused);
  EXPECT_EQ(Try("[open(str(i), 'w').close() for i in range(50)]", ENOSPC, limits).exit_code, kDone);
}

TEST_F(ConfinedProcessTest, WhatAPrivateScratchFolderHoldsCountsAsMemory) {
  NEEDS_PRIVATE_SCRATCH();
  SandboxLimits limits;
  limits.total_memory_bytes = 128 << 20;
  EXPECT_EQ(RunPython(kFill, limits).reason, EndReason::kMemory);
}

TEST_F(ConfinedProcessTest, FilesOnTheDiskEndIt) {
  SandboxLimits limits;
  limits.scratch_bytes = 64 << 20;
  EXPECT_EQ(RunPython(kFill, limits, /*private_scratch=*/false).reason, EndReason::kScratchBytes);
  limits.scratch_entries = 50;
  const std::string many =
      "import time\nfor i in range(99): open(str(i), 'w').close()\ntime.sleep(60)";
  EXPECT_EQ(RunPython(many, limits, /*private_scratch=*/false).reason, EndReason::kScratchEntries);
}

// The call takes gigabytes in the time between two polls.
TEST_F(ConfinedProcessTest, NoBlocksAreTakenWithoutWriting) {
  for (const bool private_scratch : {true, false}) {
    const Ending ending = RunPython(
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "open('a', 'w').close()\nfile = open('a', 'r+')\n"
        "libc.syscall(285, file.fileno(), 0, ctypes.c_long(0), ctypes.c_long(1 << 20))\n"
        "raise SystemExit(ctypes.get_errno())",
        {}, private_scratch);
    EXPECT_EQ(ending.exit_code, EOPNOTSUPP);
  }
}

TEST_F(RunningTest, WhatItWritesIsNotOnTheDisk) {
  NEEDS_PRIVATE_SCRATCH();
  const auto process = Start("import time\nopen('a', 'w').write('x')\ntime.sleep(60)");
  absl::SleepFor(absl::Seconds(1));
  EXPECT_FALSE(process->ended().has_value());
  EXPECT_TRUE(std::filesystem::is_empty(process->scratch()));
}

// Without a private scratch folder, each turn waits for the disk.
TEST_F(RunningTest, WhatWaitsForTheDiskInsteadOfWorkingIsEnded) {
  python_.policy().private_scratch = false;
  python_.policy().limits.poll_period = absl::Milliseconds(5);
  const auto process = Start(
      "import os\n"
      "file = os.open('a', os.O_WRONLY | os.O_CREAT)\n"
      "while True:\n  os.pwrite(file, os.urandom(9), 0)\n  os.fsync(file)\n");
  absl::SleepFor(absl::Seconds(1));  // Python has started
  process->BeginWork(absl::Milliseconds(20));
  const absl::Time until = absl::Now() + absl::Minutes(1);
  while (!process->ended().has_value() && absl::Now() < until)
    absl::SleepFor(absl::Milliseconds(20));
  process->Kill();
  const Ending ending = process->Wait();
  EXPECT_EQ(ending.reason, EndReason::kDisk) << GetName(ending.reason);
}

// A worker of another user, where the machine lets one have namespaces.
TEST_F(ConfinedProcessTest, AUserWhoIsNotRootHasAPrivateScratchFolderToo) {
  if (::geteuid() != 0) GTEST_SKIP() << "the other tests run as such a user";
  GTEST_FLAG_SET(death_test_style, "fast");
  const auto as_nobody = [] {
    constexpr uid_t kUser = 54321;
    if (::setgroups(0, nullptr) != 0 || ::setresgid(kUser, kUser, kUser) != 0 ||
        ::setresuid(kUser, kUser, kUser) != 0) {
      std::_Exit(1);
    }
    // It is the process of another user now, whose /proc files are root's until then.
    ::prctl(PR_SET_DUMPABLE, 1);
    const bool may_mount = MayMountScratch("/tmp");
    SandboxLimits limits;
    limits.scratch_bytes = 64 << 20;
    const Ending ending = RunPython(kFill, limits);
    std::_Exit((may_mount ? ending.exit_code == ENOSPC : ending.limit()) ? 0 : 2);
  };
  EXPECT_EXIT(as_nobody(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kernelmill::compiler
