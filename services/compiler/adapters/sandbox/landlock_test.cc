#include "services/compiler/adapters/sandbox/landlock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/landlock.h>

#include "absl/status/status.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::compiler {
namespace {

using ::kernelmill::testing::StatusIs;

TEST(LandlockTest, NewerAbisTakeMoreAway) {
  for (int abi = 2; abi < 8; ++abi) {
    const LandlockRights older = GetRights(abi), newer = GetRights(abi + 1);
    EXPECT_EQ(older.files & newer.files, older.files);
    EXPECT_EQ(older.net & newer.net, older.net);
    EXPECT_EQ(older.scoped & newer.scoped, older.scoped);
  }
  EXPECT_EQ(GetRights(3).net, 0);
  EXPECT_NE(GetRights(4).net, 0);
  EXPECT_EQ(GetRights(5).scoped, 0);
  EXPECT_NE(GetRights(6).scoped, 0);
}

TEST(LandlockTest, WhatIsReadIsNeitherWrittenNorExecuted) {
  const LandlockRights rights = GetRights(6);
  EXPECT_EQ(ReadAccess(rights, true), LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);
  EXPECT_EQ(ReadAccess(rights, false), LANDLOCK_ACCESS_FS_READ_FILE);
  EXPECT_EQ(ExecuteAccess(rights, false) & ~ReadAccess(rights, false), LANDLOCK_ACCESS_FS_EXECUTE);
}

TEST(LandlockTest, ScratchHoldsNoProgramsDevicesOrSockets) {
  const uint64_t access = ScratchAccess(GetRights(6));
  for (const uint64_t never :
       {LANDLOCK_ACCESS_FS_EXECUTE, LANDLOCK_ACCESS_FS_MAKE_CHAR, LANDLOCK_ACCESS_FS_MAKE_BLOCK,
        LANDLOCK_ACCESS_FS_MAKE_SOCK, LANDLOCK_ACCESS_FS_MAKE_FIFO}) {
    EXPECT_EQ(access & never, 0);
  }
  EXPECT_NE(access & LANDLOCK_ACCESS_FS_WRITE_FILE, 0);
}

TEST(LandlockTest, APathThatIsNotThereIsNamed) {
  if (LandlockAbi() < kMinLandlockAbi) GTEST_SKIP() << "the kernel has no Landlock";
  Policy policy;
  policy.read = {"/nowhere/at/all"};
  const auto ruleset = MakeRuleset(policy);
  EXPECT_THAT(ruleset, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(ruleset.status().message(), ::testing::HasSubstr("/nowhere/at/all"));
}

}  // namespace
}  // namespace kernelmill::compiler
