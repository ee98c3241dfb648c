#include "services/compiler/sandbox/confined_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "services/compiler/sandbox/support.h"

namespace kernelmill::compiler {
namespace {

using ::kernelmill::testing::IsOk;

// Runs a line of Python in the sandbox; it exits with 0 if it was let do all of it.
Ending RunPython(const std::string& code, SandboxLimits limits = {}) {
  absl::StatusOr<TempDir> parent = TempDir::Create();
  EXPECT_THAT(parent, IsOk());
  ::chmod(parent->path().c_str(), 0711);
  absl::StatusOr<Policy> policy = InterpreterPolicy("/usr/bin/python3");
  EXPECT_THAT(policy, IsOk());
  policy->scratch_parent = parent->path();
  policy->limits = limits;
  auto process =
      ConfinedProcess::Start({{"/usr/bin/python3", "-I", "-B", "-c", code}, {}, {}}, *policy);
  EXPECT_THAT(process, IsOk());
  return process.ok() ? (*process)->Wait() : Ending();
}

TEST(ConfinedProcess, MachineCanConfine) { EXPECT_THAT(CheckSandbox(), IsOk()); }

TEST(ConfinedProcess, ScratchIsWritten) {
  EXPECT_EQ(RunPython("open('a', 'w').write('x')").exit_code, 0);
}

TEST(ConfinedProcess, FilesOutsideAndSocketsAreRefused) {
  EXPECT_EQ(RunPython("open('/etc/passwd')").exit_code, 1);
  EXPECT_EQ(RunPython("import socket; socket.socket()").exit_code, 1);
}

TEST(ConfinedProcess, ManyFilesEndIt) {
  SandboxLimits limits;
  limits.scratch_entries = 50;
  const Ending ending = RunPython(
      "import time\nfor i in range(99): open(str(i), 'w').close()\ntime.sleep(60)", limits);
  EXPECT_EQ(ending.reason, EndReason::kScratchEntries);
}

}  // namespace
}  // namespace kernelmill::compiler
