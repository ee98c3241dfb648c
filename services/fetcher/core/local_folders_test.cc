#include "services/fetcher/core/local_folders.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

class LocalFoldersTest : public ::testing::Test {
 protected:
  LocalFoldersTest() {
    for (const char* name : {"/ours/kernels", "/oursecrets"}) {
      std::filesystem::create_directories(dir_.path() + name);
    }
    std::filesystem::create_directory_symlink(dir_.path() + "/oursecrets",
                                              dir_.path() + "/ours/link");
  }
  void ExpectRefused(const LocalFolders& folders, const std::string& path) {
    EXPECT_THAT(folders.Check(path), StatusIs(absl::StatusCode::kPermissionDenied)) << path;
  }

  TempDir dir_ = *TempDir::Create();
};

TEST_F(LocalFoldersTest, WithoutFoldersNothingIsAllowed) {
  ExpectRefused(LocalFolders(), dir_.path());
}

TEST_F(LocalFoldersTest, WhatLiesInAFolderIsAllowed) {
  const LocalFolders folders({dir_.path() + "/none", dir_.path() + "/ours/"});
  EXPECT_THAT(folders.Check(dir_.path() + "/ours"), IsOk());
  EXPECT_THAT(folders.Check(dir_.path() + "/ours/kernels/"), IsOk());
  EXPECT_THAT(folders.Check(dir_.path() + "/ours/not/yet"), IsOk());
}

TEST_F(LocalFoldersTest, NeitherDotsNorLinksNorLikeNamesLeadOut) {
  const LocalFolders folders({dir_.path() + "/ours"});
  for (const char* path :
       {"/oursecrets", "/ours/../oursecrets", "/ours/link", "/ours/link/x", ""}) {
    ExpectRefused(folders, dir_.path() + path);
  }
}

TEST_F(LocalFoldersTest, ARelativePathIsTakenFromTheWorkingFolder) {
  EXPECT_THAT(LocalFolders({std::filesystem::current_path()}).Check("not/yet"), IsOk());
  ExpectRefused(LocalFolders({dir_.path()}), "not/yet");
}

TEST_F(LocalFoldersTest, TheRootIsEverything) {
  EXPECT_THAT(LocalFolders({"/"}).Check(dir_.path()), IsOk());
  EXPECT_THAT(LocalFolders({"/"}).Check("/"), IsOk());
}

}  // namespace
}  // namespace kernelmill::fetcher
