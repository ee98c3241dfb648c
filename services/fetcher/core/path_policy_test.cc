#include "services/fetcher/core/path_policy.h"

#include <gtest/gtest.h>

namespace kernelmill::fetcher {
namespace {

// row 22
TEST(PathPolicy, DisguisedPathsAreUnsafe) {
  for (const char* path : {"../a",
                           "a/../b",
                           "a/..",
                           "/a",
                           "a//b",
                           "a/",
                           "./a",
                           "",
                           ".git",
                           ".GIT/config",
                           "a/.Git/x",
                           "git~1/x",
                           "GIT~1",
                           ".git./x",
                           ".git /x",
                           ".git::$INDEX_ALLOCATION/x",
                           ".g\xe2\x80\x8cit/x",
                           "a\xef\xbb\xbf.py",
                           "\xe2\x80\xae"
                           "a.py",
                           "a\xe2\x81\xaa"}) {
    EXPECT_TRUE(IsUnsafePath(path)) << path;
  }
  EXPECT_TRUE(IsUnsafePath(absl::string_view("a\0b", 3)));
}

// row 25
TEST(PathPolicy, OtherBytesAreSafe) {
  for (const char* path :
       {"a.py", "a/b/c.py", ".github/x.py", ".gitignore", "git~2", "...", "a..b",
        "\xff\xfe/\x80.py", "na\xc3\xafve.py", "a b", "a\nb", "\xe2\x80\x9c", "git"}) {
    EXPECT_FALSE(IsUnsafePath(path)) << path;
  }
}

}  // namespace
}  // namespace kernelmill::fetcher
