#include "services/fetcher/core/selection/file_policy.h"

#include <gtest/gtest.h>

#include <string>

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

TEST(ContentFilter, CudaQualifiersAreMarkers) {
  EXPECT_EQ(ContentSkipReason("__global__ void k() {}"), "");
  EXPECT_EQ(ContentSkipReason("x__device__"), "");
  EXPECT_EQ(ContentSkipReason("__host__ int f() {}"), "no_kernel_marker");
}

TEST(ContentFilter, MarkerIsTritonOrGluonInAnyPlace) {
  EXPECT_EQ(ContentSkipReason("import triton"), "");
  EXPECT_EQ(ContentSkipReason("from x import gluon_things"), "");
  EXPECT_EQ(ContentSkipReason(std::string("\0\xff", 2) + "xtritonx"), "");
  EXPECT_EQ(ContentSkipReason("import Triton"), "no_kernel_marker");
  EXPECT_EQ(ContentSkipReason("trito"), "no_kernel_marker");
  EXPECT_EQ(ContentSkipReason(""), "no_kernel_marker");
}

TEST(ContentFilter, MarkersOfOtherFormsAndDslsCount) {
  EXPECT_EQ(ContentSkipReason("from jax.experimental import pallas as pl"), "");
  EXPECT_EQ(ContentSkipReason("{{def_kernel('A')}}"), "");
  EXPECT_EQ(ContentSkipReason("import cutlass.cute as cute"), "");
  EXPECT_EQ(ContentSkipReason("import tilelang"), "");
  EXPECT_EQ(ContentSkipReason("import jax"), "no_kernel_marker");
}

// row 26
TEST(ContentFilter, LfsPointerIsKnownEvenIfItNamesTriton) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n# triton\n";
  EXPECT_EQ(ContentSkipReason(pointer), "lfs_pointer");
  EXPECT_EQ(ContentSkipReason(pointer + std::string(1024, ' ')), "");
  EXPECT_EQ(ContentSkipReason("# " + pointer), "");
}

}  // namespace
}  // namespace kernelmill::fetcher
