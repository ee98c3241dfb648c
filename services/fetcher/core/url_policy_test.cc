#include "services/fetcher/core/url_policy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

const LocalFolders kEverything({"/"});

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

TEST(UrlPolicy, PublicTransportsPass) {
  const absl::StatusOr<GitUrl> https =
      CheckGitUrl("https://example.org:8443/a/b.git", LocalFolders());
  ASSERT_THAT(https, IsOk());
  EXPECT_EQ(https->host, "example.org");
  EXPECT_EQ(https->port, 8443);
  EXPECT_FALSE(https->local());
  for (const char* url : {"http://example.org/a", "ssh://git@example.org/a", "git://example.org/a",
                          "https://[::1]:80/a", "HTTPS://example.org/a"}) {
    EXPECT_THAT(CheckGitUrl(url, LocalFolders()), IsOk()) << url;
  }
  EXPECT_EQ(CheckGitUrl("https://[::1]:80/a", LocalFolders())->host, "::1");
  EXPECT_EQ(CheckGitUrl("git://example.org/a", LocalFolders())->port, 9418);
}

// row 17
TEST(UrlPolicy, LocalOnlyWhereAllowed) {
  for (const char* url : {"file:///tmp/x", "/tmp/x", "./x", "../x", "x", "FILE:///tmp/x"}) {
    EXPECT_THAT(CheckGitUrl(url, LocalFolders()), StatusIs(absl::StatusCode::kPermissionDenied))
        << url;
    ASSERT_THAT(CheckGitUrl(url, kEverything), IsOk()) << url;
    EXPECT_TRUE(CheckGitUrl(url, kEverything)->local());
  }
}

// row 16
TEST(UrlPolicy, OtherTransportsAreDenied) {
  for (const char* url : {"ext::sh -c id", "ext::https://x/y", "fd::17", "x::y",
                          "ftp://example.org/a", "ext://example.org/a", "remote-x::/tmp"}) {
    EXPECT_THAT(CheckGitUrl(url, kEverything), StatusIs(absl::StatusCode::kPermissionDenied))
        << url;
  }
}

// row 18, row 19
TEST(UrlPolicy, OptionsAndControlBytesAreRefused) {
  for (const char* url :
       {"", "-x", "--upload-pack=id", "ssh://-oProxyCommand=id/x", "ssh://git@-oProxyCommand=id/x",
        "ssh://-u@example.org/x", "ssh://example.org/-x", "https://example.org/a\nb",
        "https://example.org/\r", "https://example.org/a%0ab", "https://example.org/a%00b",
        "https://", "https:///x", "https://:80/x", "https://example.org:99999/x",
        "https://example.org:x/x", "host:path", "git@example.org:a/b", "https://[::1/x"}) {
    EXPECT_THAT(CheckGitUrl(url, kEverything), StatusIs(absl::StatusCode::kInvalidArgument)) << url;
  }
  EXPECT_THAT(CheckGitUrl(absl::string_view("https://x/\0y", 12), kEverything),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

// row 19
TEST(UrlPolicy, PasswordsDoNotPassAndAreNotRepeated) {
  for (const char* url : {"https://user:s3cret@example.org/a", "https://s3cret@example.org/a",
                          "ssh://user:s3cret@example.org/a", "https://user:s3cret@a.org/a\nb",
                          "https://user:s3cret@a.org/%0a", "-https://user:s3cret@a.org/a",
                          "https://user:x/s3cret@a.org/a"}) {
    const absl::StatusOr<GitUrl> checked = CheckGitUrl(url, LocalFolders());
    EXPECT_THAT(checked, StatusIs(absl::StatusCode::kInvalidArgument)) << url;
    EXPECT_EQ(std::string(checked.status().message()).find("s3cret"), std::string::npos);
  }
}

// row 18
TEST(RefPolicy, Names) {
  for (const char* ref : {"HEAD", "main", "v1.0", "release/3.x", "refs/heads/main", "feature-x"}) {
    EXPECT_THAT(CheckGitRef(ref), IsOk()) << ref;
  }
  for (const char* ref : {"", "-x", "a b", "a..b", "a~1", "a^{}", "a:b", "*", "a\nb", "/a", "a/",
                          "a//b", "@{u}", "a\\b", "a[b"}) {
    EXPECT_THAT(CheckGitRef(ref), StatusIs(absl::StatusCode::kInvalidArgument)) << ref;
  }
}

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
