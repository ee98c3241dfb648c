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
  EXPECT_THAT(ToStatus(Everything()), IsOk());
}

TEST(SandboxSupportTest, EachPieceThatIsMissingIsNamed) {
  SandboxSupport support = Everything();
  support.landlock_abi = 1;
  support.proc = false;
  const absl::Status status = ToStatus(support);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(status.message(), AllOf(HasSubstr("Landlock ABI 2"), HasSubstr("has ABI 1"),
                                      HasSubstr("/proc"), Not(HasSubstr("seccomp"))));
}

TEST(SandboxSupportTest, NothingIsTakenForGranted) {
  EXPECT_THAT(ToStatus(SandboxSupport()), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace kernelmill::compiler
