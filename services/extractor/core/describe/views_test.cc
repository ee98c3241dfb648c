// Features of a kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr absl::string_view kImports = "import triton\nimport triton.language as tl\n";

v1::Kernel First(absl::string_view text) {
  const v1::KernelShard shard = Extract(absl::StrCat(kImports, text));
  EXPECT_GT(shard.kernels_size(), 0);
  return shard.kernels_size() > 0 ? shard.kernels(0) : v1::Kernel();
}

TEST(FeaturesTest, NamesAndOptionsOfTheLanguageTell) {
  EXPECT_THAT(
      First("from triton.language.extra import libdevice\n"
            "@triton.jit\ndef k(x, y):\n"
            "    p = tl.make_block_ptr(x)\n"
            "    for i in tl.range(3): z = libdevice.exp(tl.load(p, eviction_policy='first'))\n"
            "    tl.atomic_add(y, z.to(tl.float8e5), sem='relaxed')\n"
            "    y.gather(z)\n")
          .features(),
      ElementsAre("atomics", "block_pointers", "cache_hints", "float8", "libdevice",
                  "pipelined_loops"));
  EXPECT_THAT(First("@triton.jit\ndef k(x): return range(x)\n").features(), IsEmpty());
}

TEST(FeaturesTest, GluonLayoutsAreOne) {
  EXPECT_THAT(First("from triton.experimental import gluon\n"
                    "from triton.experimental.gluon import language as gl\n"
                    "@gluon.jit\ndef k(x):\n"
                    "    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])\n"
                    "    gl.allocate_shared_memory(gl.float16, [8], layout)\n")
                  .features(),
              ElementsAre("layouts", "shared_memory"));
}

}  // namespace
}  // namespace kernelmill::extractor
