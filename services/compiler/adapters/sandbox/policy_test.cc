#include "services/compiler/adapters/sandbox/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::compiler {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Not;

Policy Valid() {
  Policy policy;
  policy.scratch_parent = "/tmp";
  return policy;
}

TEST(CheckPolicyTest, RelativePathsAreRefused) {
  EXPECT_THAT(CheckPolicy(Valid()), IsOk());
  Policy policy = Valid();
  policy.read = {"usr/lib"};
  EXPECT_THAT(CheckPolicy(policy), StatusIs(absl::StatusCode::kInvalidArgument));
  policy = Valid();
  policy.scratch_parent.clear();
  EXPECT_THAT(CheckPolicy(policy), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(CheckPolicyTest, RootIsRefused) {
  Policy policy = Valid();
  policy.uid = 0;
  EXPECT_THAT(CheckPolicy(policy), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(CheckPolicyTest, EachBoundIsPositive) {
  for (int64_t SandboxLimits::*bound :
       {&SandboxLimits::address_space_bytes, &SandboxLimits::file_bytes,
        &SandboxLimits::cpu_seconds, &SandboxLimits::total_memory_bytes,
        &SandboxLimits::scratch_bytes}) {
    Policy policy = Valid();
    policy.limits.*bound = 0;
    EXPECT_THAT(CheckPolicy(policy), StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(PythonPolicyTest, TheEnvironmentAndItsInterpreterAreExecutedAndNoShell) {
  absl::StatusOr<TempDir> folder = TempDir::Create();
  ASSERT_THAT(folder, IsOk());
  std::filesystem::create_directory(folder->path() + "/bin");
  std::filesystem::create_symlink("/usr/bin/python3", folder->path() + "/bin/python3");
  const absl::StatusOr<Policy> policy = PythonPolicy(folder->path());
  ASSERT_THAT(policy, IsOk());
  EXPECT_THAT(policy->execute, Contains(folder->path()));
  EXPECT_THAT(policy->execute, Contains(std::filesystem::canonical("/usr/bin/python3").string()));
  for (const char* forbidden : {"/", "/usr", "/usr/bin", "/bin", "/etc", "/proc", "/tmp"}) {
    EXPECT_THAT(policy->execute, Not(Contains(forbidden)));
    EXPECT_THAT(policy->read, Not(Contains(forbidden)));
  }
}

TEST(PythonPolicyTest, AnInterpretersOwnModulesAreRead) {
  absl::StatusOr<TempDir> folder = TempDir::Create();
  ASSERT_THAT(folder, IsOk());
  std::filesystem::create_directories(folder->path() + "/python/bin");
  std::filesystem::create_directories(folder->path() + "/python/lib");
  ASSERT_THAT(WriteFile(folder->path() + "/python/bin/python3", ""), IsOk());
  const absl::StatusOr<Policy> policy = InterpreterPolicy(folder->path() + "/python/bin/python3");
  ASSERT_THAT(policy, IsOk());
  EXPECT_THAT(policy->read, Contains(folder->path() + "/python/lib"));
}

TEST(PythonPolicyTest, AFolderWithoutPythonIsNotFound) {
  absl::StatusOr<TempDir> folder = TempDir::Create();
  ASSERT_THAT(folder, IsOk());
  EXPECT_THAT(PythonPolicy(folder->path()), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace

namespace {

TEST(SandboxUserTest, NoTwoHaveTheSameUserAlsoInOtherProcesses) {
  if (::geteuid() != 0) GTEST_SKIP() << "compilers of a worker that is not root are its own";
  const SandboxUser first = SandboxUser::Take();
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(SandboxUser::Take().uid() != first.uid() ? 0 : 1);
  int status = 1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  EXPECT_NE(SandboxUser::Take().uid(), first.uid());
}

TEST(SandboxUserTest, AUserIsFreeAgain) {
  std::optional<SandboxUser> user = SandboxUser::Take();
  const uid_t uid = user->uid();
  user.reset();
  EXPECT_LE(SandboxUser::Take().uid(), uid);
}

}  // namespace

}  // namespace kernelmill::compiler
