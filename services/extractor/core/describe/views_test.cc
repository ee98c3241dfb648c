// What is derived from a kernel: tags and features.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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

// "tag rule" of every tag of a kernel.
std::vector<std::string> Tags(absl::string_view name, absl::string_view parameters = "",
                              absl::string_view body = "pass") {
  const v1::Kernel kernel =
      First(absl::StrCat("@triton.jit\ndef ", name, "(", parameters, "): ", body, "\n"));
  std::vector<std::string> tags;
  for (const v1::Tag& tag : kernel.tags()) {
    tags.push_back(absl::StrCat(tag.name(), " ", tag.rule()));
  }
  return tags;
}

TEST(TagsTest, EachHasTheFirstRuleThatGaveIt) {
  EXPECT_THAT(Tags("_rms_norm_fwd"), ElementsAre("norm name:norm"));
  EXPECT_THAT(Tags("AttnFwd", "", "tl.dot(1, 2)"),
              ElementsAre("attention name:attn", "matmul call:triton.language.dot"));
  EXPECT_THAT(Tags("k", "x, sorted_token_ids"),
              ElementsAre("mixture of experts parameter:sorted_token_ids"));
  EXPECT_THAT(Tags("normal_quantile_convert"), IsEmpty());
  EXPECT_THAT(Tags("k"), IsEmpty());
  EXPECT_THAT(Tags("k", "x", "x.dot(x)"), IsEmpty());
}

TEST(TagsTest, StructureIsWhatIsCalledTogether) {
  EXPECT_THAT(Tags("k", "x", "x = tl.exp(x - tl.max(x, 0)); x / tl.sum(x, 0)"),
              ElementsAre("reduction call:triton.language.max", "softmax structure:exp+max+sum"));
  EXPECT_THAT(Tags("k", "x", "tl.dot(tl.exp2(x - tl.max(x, 0)), x)"),
              ElementsAre("attention structure:dot+exp+max", "matmul call:triton.language.dot",
                          "reduction call:triton.language.max"));
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
