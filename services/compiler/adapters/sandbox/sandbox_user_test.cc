#include "services/compiler/adapters/sandbox/sandbox_user.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

namespace kernelmill::compiler {
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
