#include "services/fetcher/adapters/local/local_tree.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "common/base/file.h"
#include "common/source_files/content_hash.h"
#include "common/testing/status_matchers.h"
#include "services/fetcher/core/assemble.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

class LocalTreeTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& content) {
    const std::filesystem::path file = folder_.path() + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    ASSERT_THAT(WriteFile(file.string(), content), IsOk());
  }

  std::unique_ptr<Snapshot> Open() {
    absl::StatusOr<std::unique_ptr<Snapshot>> tree = OpenLocalTree(folder_.path(), globs_, limits_);
    EXPECT_THAT(tree, IsOk());
    return tree.ok() ? *std::move(tree) : nullptr;
  }

  v1::SourceTree Describe(Snapshot& snapshot) {
    absl::StatusOr<v1::SourceTree> tree = DescribeTree(snapshot, "local", {});
    EXPECT_THAT(tree, IsOk());
    return *tree;
  }

  std::string Pin() { return source_files::ContentHash(Describe(*Open())); }

  TempDir folder_ = *TempDir::Create();
  GlobSet globs_ = *GlobSet::Compile({"**/*.py"}, {});
  TreeLimits limits_;
};

TEST_F(LocalTreeTest, ListsSortedAndReadsBytes) {
  const std::string odd("\xff\0\r\n", 4);
  Write("b.py", odd);
  Write("a/deep/x.py", "x");
  Write("README", "r");
  Write("LICENSE", "MIT");
  Write(".git/hooks/y.py", "never");
  Write("sub/.git", "gitdir: ../.git/modules/sub");
  const std::unique_ptr<Snapshot> tree = Open();
  const Listing& listing = tree->listing();
  ASSERT_EQ(listing.files.size(), 2u);
  EXPECT_EQ(listing.files[0].path, "a/deep/x.py");
  EXPECT_EQ(*tree->Read(listing.files[1]), odd);
  EXPECT_EQ(*tree->Size(listing.files[1]), 4);
  EXPECT_EQ(listing.unselected, 2);
  ASSERT_EQ(listing.licenses.size(), 2u) << "LICENSE, and README, which may restrict it";
}

// row 21
TEST_F(LocalTreeTest, LinksAreNotFollowed) {
  const TempDir outside = *TempDir::Create();
  ASSERT_THAT(WriteFile(outside.path() + "/secret.py", "triton"), IsOk());
  std::filesystem::create_symlink(outside.path() + "/secret.py", folder_.path() + "/link.py");
  std::filesystem::create_directory_symlink(outside.path(), folder_.path() + "/linked");
  std::filesystem::create_symlink(outside.path() + "/secret.py", folder_.path() + "/LICENSE");
  ASSERT_EQ(::mkfifo((folder_.path() + "/pipe.py").c_str(), 0600), 0);
  const v1::SourceTree tree = Describe(*Open());
  const std::map<std::string, int64_t> expected = {
      {"files.seen", 2}, {"files.skipped.special_file", 1}, {"files.skipped.symlink", 1}};
  EXPECT_EQ(CountFiles(tree), expected);
  EXPECT_EQ(tree.license_files_size(), 0);
}

// row 21
TEST_F(LocalTreeTest, LinkPutInAFoldersPlaceIsNotFollowed) {
  const TempDir outside = *TempDir::Create();
  ASSERT_THAT(WriteFile(outside.path() + "/x.py", "secret"), IsOk());
  Write("a/x.py", "x");
  const std::unique_ptr<Snapshot> tree = Open();
  std::filesystem::remove_all(folder_.path() + "/a");
  std::filesystem::create_directory_symlink(outside.path(), folder_.path() + "/a");
  EXPECT_THAT(tree->Read(tree->listing().files[0]), StatusIs(absl::StatusCode::kAborted));
}

TEST_F(LocalTreeTest, PinIsStableAndDependsOnWhatIsTaken) {
  Write("x.py", "triton");
  Write("y.py", "other");
  Write("LICENSE", "MIT");
  const std::string pin = Pin();
  EXPECT_EQ(pin.size(), 64u);
  EXPECT_EQ(Pin(), pin);
  Write("HISTORY", "not taken");
  EXPECT_EQ(Pin(), pin);
  Write("y.py", "other!");
  EXPECT_NE(Pin(), pin);
  Write("y.py", "other");
  EXPECT_EQ(Pin(), pin);
  Write("LICENSE", "ISC");
  EXPECT_NE(Pin(), pin);
}

TEST_F(LocalTreeTest, PinDoesNotDependOnWhereTheTreeIs) {
  Write("a/x.py", "triton");
  const std::string pin = Pin();
  const TempDir copy = *TempDir::Create();
  std::filesystem::copy(folder_.path(), copy.path() + "/elsewhere",
                        std::filesystem::copy_options::recursive);
  absl::StatusOr<std::unique_ptr<Snapshot>> tree =
      OpenLocalTree(copy.path() + "/elsewhere", globs_, limits_);
  ASSERT_THAT(tree, IsOk());
  EXPECT_EQ(source_files::ContentHash(Describe(**tree)), pin);
}

TEST_F(LocalTreeTest, ChangeAfterListingIsAborted) {
  Write("x.py", "triton");
  const std::unique_ptr<Snapshot> tree = Open();
  const v1::SourceTree described = Describe(*tree);
  Write("x.py", "triton, later");
  EXPECT_THAT(ReadShard(*tree, described, {0}), StatusIs(absl::StatusCode::kAborted));
  std::filesystem::remove(folder_.path() + "/x.py");
  EXPECT_THAT(tree->Size(tree->listing().files[0]), StatusIs(absl::StatusCode::kAborted));
}

TEST_F(LocalTreeTest, BoundsFailTheSource) {
  Write("a/b/c/x.py", "x");
  limits_.depth = 2;
  EXPECT_THAT(OpenLocalTree(folder_.path(), globs_, limits_),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  limits_.depth = 3;
  EXPECT_THAT(OpenLocalTree(folder_.path(), globs_, limits_), IsOk());
  limits_.entries = 3;
  EXPECT_THAT(OpenLocalTree(folder_.path(), globs_, limits_),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(LocalTreeTest, WhatIsNoFolderIsRefused) {
  EXPECT_THAT(OpenLocalTree(folder_.path() + "/none", globs_, limits_),
              StatusIs(absl::StatusCode::kNotFound));
  Write("x.py", "x");
  EXPECT_THAT(OpenLocalTree(folder_.path() + "/x.py", globs_, limits_),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace kernelmill::fetcher
