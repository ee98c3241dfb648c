#include "services/compiler/adapters/sandbox/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::compiler {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

SandboxSupport Everything() {
  SandboxSupport support;
  support.x86_64 = support.seccomp = support.close_range = support.pidfd = true;
  support.proc = support.change_user = true;
  support.landlock_abi = 2;
  return support;
}

TEST(SandboxSupportTest, AMachineThatHasEverythingIsTaken) {
  EXPECT_THAT(StatusOf(Everything()), IsOk());
}

TEST(SandboxSupportTest, EachPieceThatIsMissingIsNamed) {
  SandboxSupport support = Everything();
  support.landlock_abi = 1;
  support.proc = false;
  const absl::Status status = StatusOf(support);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(status.message(), AllOf(HasSubstr("Landlock of ABI 2"), HasSubstr("here ABI 1"),
                                      HasSubstr("/proc"), Not(HasSubstr("seccomp"))));
}

TEST(SandboxSupportTest, NothingIsTakenForGranted) {
  EXPECT_THAT(StatusOf(SandboxSupport()), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace kernelmill::compiler
