#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/server/sources.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;

class ScratchFolderTest : public ::testing::Test {
 protected:
  int Entries() const {
    return static_cast<int>(std::distance(std::filesystem::directory_iterator(parent_.path()),
                                          std::filesystem::directory_iterator()));
  }

  // Makes a scratch folder with a repository in it, in another process, which is then killed.
  void LeaveOneBehind() {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto scratch = ScratchFolder::Create(parent_.path());
      std::filesystem::create_directories(scratch->path() + "/kernelmill-x/objects");
      ::raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
  }

  TempDir parent_ = *TempDir::Create();
};

TEST_F(ScratchFolderTest, WhatAKilledProcessLeftIsRemovedByTheNext) {
  LeaveOneBehind();
  ASSERT_EQ(Entries(), 1);
  const auto scratch = ScratchFolder::Create(parent_.path());
  ASSERT_THAT(scratch, IsOk());
  EXPECT_EQ(Entries(), 1);
  EXPECT_TRUE(scratch->Exists());
}

TEST_F(ScratchFolderTest, WhatALivingProcessHasStays) {
  const auto one = ScratchFolder::Create(parent_.path());
  const auto other = ScratchFolder::Create(parent_.path());
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(other, IsOk());
  EXPECT_NE(one->path(), other->path());
  EXPECT_TRUE(one->Exists());
  EXPECT_TRUE(other->Exists());
}

TEST_F(ScratchFolderTest, FoldersOfOthersStay) {
  std::filesystem::create_directory(parent_.path() + "/somebodys");
  ASSERT_THAT(WriteFile(parent_.path() + "/file", "x"), IsOk());
  const auto scratch = ScratchFolder::Create(parent_.path());
  EXPECT_EQ(Entries(), 3);
}

TEST_F(ScratchFolderTest, GoesWithItsObject) {
  auto scratch = ScratchFolder::Create(parent_.path());
  ASSERT_THAT(scratch, IsOk());
  {
    const ScratchFolder moved = *std::move(scratch);
    EXPECT_TRUE(moved.Exists());
  }
  EXPECT_EQ(Entries(), 0);
}

TEST_F(ScratchFolderTest, KnowsThatItWasCleanedUp) {
  const auto scratch = ScratchFolder::Create(parent_.path());
  ASSERT_THAT(scratch, IsOk());
  std::filesystem::remove_all(scratch->path());
  EXPECT_FALSE(scratch->Exists());
}

}  // namespace
}  // namespace kernelmill::fetcher
