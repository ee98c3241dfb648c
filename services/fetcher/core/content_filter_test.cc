#include "services/fetcher/core/content_filter.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill::fetcher {
namespace {

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

TEST(ContentFilter, MarkersAreSeenAtEveryPlace) {
  for (const std::string marker : {"flyc", "cute.", "helion", "import numba", "TritonTemplate"}) {
    for (size_t before = 0; before < 9; ++before) {
      for (size_t after = 0; after < 3; ++after) {
        const std::string text = std::string(before, 'f') + marker + std::string(after, 'x');
        EXPECT_EQ(ContentSkipReason(text), "") << text;
        EXPECT_EQ(ContentSkipReason(text.substr(0, before + marker.size() - 1)),
                  "no_kernel_marker");
      }
    }
  }
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
