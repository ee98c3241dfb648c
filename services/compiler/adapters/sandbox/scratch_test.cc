#include "services/compiler/adapters/sandbox/scratch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "services/compiler/adapters/sandbox/policy.h"

namespace kernelmill::compiler {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

class ScratchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<TempDir> parent = TempDir::Create();
    ASSERT_THAT(parent, IsOk());
    parent_ = std::make_unique<TempDir>(*std::move(parent));
    absl::StatusOr<Scratch> scratch = Scratch::Create(parent_->path(), Policy().uid);
    ASSERT_THAT(scratch, IsOk());
    scratch_ = std::make_unique<Scratch>(*std::move(scratch));
  }

  std::string Path(const std::string& name) const { return scratch_->path() + "/" + name; }
  bool NothingIsLeft() const { return std::filesystem::is_empty(parent_->path()); }

  std::unique_ptr<TempDir> parent_;
  std::unique_ptr<Scratch> scratch_;
};

TEST_F(ScratchTest, UsageIsOfBlocksAndEntries) {
  ASSERT_THAT(WriteFile(Path("a"), std::string(100000, 'x')), IsOk());
  std::filesystem::create_directory(Path("folder"));
  ASSERT_THAT(WriteFile(Path("folder/b"), "x"), IsOk());
  const ScratchUsage usage = scratch_->Usage(100);
  EXPECT_EQ(usage.entries, 3);
  EXPECT_GE(usage.bytes, 100000);
  EXPECT_FALSE(usage.hidden);
}

TEST_F(ScratchTest, CountingStopsAboveTheBound) {
  for (int i = 0; i < 20; ++i) ASSERT_THAT(WriteFile(Path(absl::StrCat(i)), ""), IsOk());
  EXPECT_EQ(scratch_->Usage(5).entries, 6);
}

TEST_F(ScratchTest, ALinkIsCountedAndNotFollowed) {
  std::filesystem::create_symlink("/usr", Path("link"));
  EXPECT_EQ(scratch_->Usage(100).entries, 1);
}

TEST_F(ScratchTest, AFolderThatSomebodyRemovedIsGoneAndHidesNothing) {
  std::filesystem::remove_all(scratch_->path());
  EXPECT_TRUE(scratch_->Usage(100).gone);
  EXPECT_FALSE(scratch_->Usage(100).hidden);
}

TEST_F(ScratchTest, DeepFoldersAreHidden) {
  std::string path = scratch_->path();
  for (int i = 0; i <= kMaxScratchDepth; ++i) {
    path += "/d";
    std::filesystem::create_directory(path);
  }
  EXPECT_TRUE(scratch_->Usage(1000).hidden);
}

TEST_F(ScratchTest, NothingOfAFolderThatStrangersWroteToIsLeft) {
  // Deeper than the longest possible path.
  const int here = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::chdir(scratch_->path().c_str()), 0);
  for (int i = 0; i < 600; ++i) {
    ASSERT_EQ(::mkdir("a-long-name-of-a-folder", 0700), 0);
    ASSERT_EQ(::chdir("a-long-name-of-a-folder"), 0);
  }
  ASSERT_EQ(::fchdir(here), 0);
  ::close(here);
  ASSERT_EQ(::mkdir(Path("closed").c_str(), 0700), 0);
  ASSERT_THAT(WriteFile(Path("closed/file"), ""), IsOk());
  ASSERT_EQ(::chmod(Path("closed").c_str(), 0), 0);
  std::filesystem::create_directory_symlink("/usr", Path("link"));
  scratch_.reset();
  EXPECT_TRUE(NothingIsLeft());
  EXPECT_TRUE(std::filesystem::exists("/usr/bin"));
}

TEST_F(ScratchTest, WhatAKilledProcessLeftIsRemovedAndNothingElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "as another user a worker has no users to tell them by";
  const std::string left = parent_->path() + "/kernelmill-compile-left";
  const std::string of_another_name = parent_->path() + "/left";
  const std::string of_another_user = parent_->path() + "/kernelmill-compile-other";
  for (const std::string& path : {left, of_another_name, of_another_user}) {
    std::filesystem::create_directory(path);
    ASSERT_THAT(WriteFile(path + "/file", ""), IsOk());
    const uid_t uid = Policy().uid + (path == of_another_user ? 1 : 0);
    ASSERT_EQ(::chown(path.c_str(), uid, uid), 0);
  }
  const absl::StatusOr<Scratch> next = Scratch::Create(parent_->path(), Policy().uid);
  ASSERT_THAT(next, IsOk());
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(of_another_name + "/file"));
  EXPECT_TRUE(std::filesystem::exists(of_another_user + "/file"));
  EXPECT_TRUE(std::filesystem::exists(scratch_->path())) << "which is held";
}

TEST(ScratchCreateTest, AParentThatIsNotThereIsNotFound) {
  EXPECT_THAT(Scratch::Create("/nowhere/at/all", Policy().uid).status(),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace kernelmill::compiler
