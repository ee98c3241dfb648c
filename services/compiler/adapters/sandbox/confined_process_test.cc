#include "services/compiler/adapters/sandbox/confined_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

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
Ending RunPython(const std::string& code, SandboxLimits limits = {}) {
  SystemPython python;
  python.policy().limits = limits;
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

Ending Try(const std::string& code) {
  return RunPython("import errno, socket\ntry:\n  " + code +
                   "\nexcept OSError as error:\n"
                   "  raise SystemExit(13 if error.errno in (errno.EACCES, errno.EPERM) else 1)");
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

// Returns true if a process has `word` in its command line.
bool AnyRuns(const std::string& word) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto line = ReadFile(absl::StrCat(entry.path().string(), "/cmdline"), 4000);
    if (line.ok() && absl::StrContains(*line, word)) return true;
  }
  return false;
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
    const std::string file = absl::StrCat((*process)->scratch(), "/file");
    while (!std::filesystem::exists(file)) absl::SleepFor(absl::Milliseconds(10));
    std::quick_exit(AnyRuns(marker) ? 0 : 1);
  };
  EXPECT_EXIT(start_and_leave(), ::testing::ExitedWithCode(0), "");
  EXPECT_FALSE(AnyRuns(marker));
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

TEST_F(ConfinedProcessTest, ManyFilesEndIt) {
  SandboxLimits limits;
  limits.scratch_entries = 50;
  const Ending ending = RunPython(
      "import time\nfor i in range(99): open(str(i), 'w').close()\ntime.sleep(60)", limits);
  EXPECT_EQ(ending.reason, EndReason::kScratchEntries);
}

}  // namespace
}  // namespace kernelmill::compiler
