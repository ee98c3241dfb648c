#include "services/extractor/core/tags/tags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/extractor/core/tags/tag_table.h"
#include "services/extractor/testing/extract_for_test.h"

namespace kernelmill::extractor {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> GetTags(const v1::Kernel& kernel) {
  std::vector<std::string> tags;
  for (const v1::Tag& tag : kernel.tags()) {
    tags.push_back(absl::StrCat(tag.name(), " ", tag.rule()));
  }
  return tags;
}

// "tag rule" of every tag of the kernel of that name in a linked file.
std::vector<std::string> TagsIn(absl::string_view text, absl::string_view name = "k",
                                std::string path = "a.py") {
  const v1::KernelShard shard = ExtractAndLink(
      {{path, absl::StrCat("import triton\nimport triton.language as tl\nimport torch\n", text)}});
  for (const v1::Kernel& kernel : shard.kernels()) {
    if (kernel.name() == name) return GetTags(kernel);
  }
  return {"no kernel"};
}

// A kernel with this name and this body.
std::vector<std::string> Tags(absl::string_view name, absl::string_view body = "pass",
                              absl::string_view parameters = "x, y", std::string path = "a.py") {
  return TagsIn(absl::StrCat("@triton.jit\ndef ", name, "(", parameters, "):\n    ", body, "\n"),
                name, std::move(path));
}

std::vector<std::string> CudaTags(absl::string_view text) {
  const v1::KernelShard shard = ExtractAndLink({{"ops/a.cu", std::string(text)}});
  return shard.kernels_size() == 0 ? std::vector<std::string>{"no kernel"}
                                   : GetTags(shard.kernels(0));
}

TEST(TagTableTest, IsSortedAndItsBroaderTagsAreInIt) {
  const auto rules = TagRules();
  for (size_t i = 0; i < rules.size(); ++i) {
    if (i > 0) EXPECT_LT(rules[i - 1].tag, rules[i].tag);
    const bool known = rules[i].also.empty() ||
                       std::any_of(rules.begin(), rules.end(),
                                   [&](const TagRule& rule) { return rule.tag == rules[i].also; });
    EXPECT_TRUE(known) << rules[i].also;
  }
}

TEST(TagsTest, AreOfWholeWords) {
  EXPECT_THAT(Tags("_softmax_fwd"), ElementsAre("softmax name:softmax"));
  EXPECT_THAT(Tags("_LayerNormFwd"),
              ElementsAre("layer_norm name:layernorm", "norm name:layernorm"));
  EXPECT_THAT(Tags("normal_quantile_convert"), IsEmpty());
  EXPECT_THAT(Tags("topkid_permission"), IsEmpty());
}

TEST(TagsTest, ANamespaceIsNoEvidence) {
  EXPECT_THAT(
      CudaTags("namespace fbgemm_gpu { __global__ void lookup(int* p) { p[0] = p[1]; } }\n"),
      ElementsAre("copy structure:stores_loaded"));
  EXPECT_THAT(Tags("_fbgemm_copy", "tl.store(y, tl.load(x))"), ElementsAre("copy name:copy"));
}

TEST(TagsTest, ATagMayNeedWhatTheCodeDoes) {
  EXPECT_THAT(Tags("_mm_kernel", "tl.store(y, tl.dot(tl.load(x), tl.load(x)))"),
              ElementsAre("matmul name:mm"));
  EXPECT_THAT(Tags("_mm_kernel", "a = 0\n    a += tl.load(x) * tl.load(x)\n    tl.store(y, a)"),
              ElementsAre("matmul name:mm"));
  EXPECT_THAT(Tags("_mm_meta", "tl.store(y, 1)"), ElementsAre("fill structure:stores_constant"));
  EXPECT_THAT(Tags("max_len_copy", "tl.store(y, tl.load(x))"), ElementsAre("copy name:copy"));
}

TEST(TagsTest, WordsBesideAPhraseMaySayThatItIsAboutSomethingElse) {
  EXPECT_THAT(Tags("attn_schedule", "tl.store(y, tl.sum(tl.load(x), 0))"),
              ElementsAre("scheduling name:schedule"));
  EXPECT_THAT(Tags("_build_gemm_tiling", "tl.store(y, tl.sum(tl.load(x), 0))"),
              ElementsAre("scheduling name:gemmtiling"));
}

TEST(TagsTest, WhatAHelperDoesCounts) {
  const absl::string_view helpers =
      "@triton.jit\ndef inner(a):\n    return tl.dot(a, a)\n"
      "@triton.jit\ndef outer(a):\n    return inner(a)\n"
      "@triton.jit\ndef unused(a):\n    return tl.sort(a)\n";
  EXPECT_THAT(TagsIn(absl::StrCat(helpers,
                                  "@triton.jit\ndef k(x, y):\n"
                                  "    tl.store(y, outer(tl.load(x)))\n")),
              ElementsAre("matmul structure:dot"));
}

TEST(TagsTest, ASumOrAMaximumOnItsWayIsNoReduction) {
  EXPECT_THAT(Tags("k", "tl.store(y, tl.sum(tl.load(x), 0))"),
              ElementsAre("reduction structure:stores_reduced"));
  EXPECT_THAT(Tags("rms_norm", "v = tl.load(x)\n    tl.store(y, v * tl.rsqrt(tl.sum(v * v, 0)))"),
              ElementsAre("norm name:rmsnorm", "rms_norm name:rmsnorm"));
  EXPECT_THAT(Tags("k", "tl.store(y, tl.load(x + tl.max(tl.program_id(0), 0)))"),
              ElementsAre("copy structure:stores_loaded"));
}

TEST(TagsTest, ARootOfASumIsANormOnlyThen) {
  EXPECT_THAT(Tags("k", "v = tl.load(x)\n    tl.store(y, v * tl.rsqrt(tl.sum(v * v, 0)))"),
              ElementsAre("norm structure:root_of_sum"));
  EXPECT_THAT(Tags("k", "v = tl.load(x)\n    s = tl.sum(v, 0)\n    tl.store(y, tl.sqrt(v) + s)"),
              ElementsAre("reduction structure:stores_reduced"));
}

TEST(TagsTest, StructureSaysWhatNoNameDoes) {
  EXPECT_THAT(Tags("k",
                   "v = tl.load(x)\n    e = tl.exp(v - tl.max(v, 0))\n"
                   "    tl.store(y, e / tl.sum(e, 0))"),
              ElementsAre("softmax structure:exp+max+sum"));
  EXPECT_THAT(Tags("k",
                   "v = tl.load(x)\n    p = tl.exp2(tl.dot(v, v) - tl.max(v, 0))\n"
                   "    tl.store(y, tl.dot(p, v))"),
              ElementsAre("attention structure:dot+exp+max+dot"));
  EXPECT_THAT(Tags("k", "tl.store(y, tl.load(x) * 2)"),
              ElementsAre("elementwise structure:stores_computed"));
  EXPECT_THAT(Tags("k", "tl.store(y, tl.load(cu_seqlens) + 1)", "y, cu_seqlens"), IsEmpty());
  EXPECT_THAT(Tags("k", "tl.store(y, tl.load(x + tl.load(y)))"),
              ElementsAre("gather structure:loads_at_loaded"));
  EXPECT_THAT(Tags("k", "tl.atomic_add(y + tl.load(x), 1)"),
              ElementsAre("scatter structure:atomic_at_loaded"));
  EXPECT_THAT(Tags("k"), IsEmpty());
}

TEST(TagsTest, ADotIsExplainedByWhatIsMadeOfDots) {
  const std::string dot = "tl.store(y, tl.dot(tl.load(x), tl.load(x)))";
  EXPECT_THAT(Tags("chunk_gla_fwd", dot), ElementsAre("linear_attention name:gla"));
  EXPECT_THAT(Tags("fused_moe", dot), ElementsAre("matmul structure:dot", "moe name:moe"));
}

TEST(TagsTest, TheFileAndItsFoldersSayWhatTheNameDoesNot) {
  const std::string dot = "tl.store(y, tl.dot(tl.load(x), tl.load(x)))";
  EXPECT_THAT(Tags("fwd_o", dot, "x, y", "fla/ops/gla/chunk.py"),
              ElementsAre("linear_attention folder:gla"));
  EXPECT_THAT(Tags("k", dot, "x, y", "lib/flash_attention.py"),
              ElementsAre("attention file:flashattention"));
  EXPECT_THAT(Tags("k", dot, "x, y", "flash_attention/a.py"), ElementsAre("matmul structure:dot"));
  EXPECT_THAT(Tags("rope", "tl.store(y, tl.load(x))", "x, y", "lib/flash_attention.py"),
              ElementsAre("rope name:rope"));
}

TEST(TagsTest, TheLauncherAndItsClassSayWhatTheNameDoesNot) {
  EXPECT_THAT(TagsIn("@triton.jit\ndef k(x):\n    tl.store(x, tl.sum(tl.load(x), 0))\n"
                     "class RMSNorm(torch.autograd.Function):\n"
                     "    @staticmethod\n    def backward(ctx, x):\n        k[(1,)](x)\n"),
              ElementsAre("backward launcher:backward", "norm launcher:rmsnorm",
                          "rms_norm launcher:rmsnorm"));
}

TEST(TagsTest, TheFirstSentenceOfTheDocstringSaysWhatNamesDoNot) {
  EXPECT_THAT(Tags("k", "\"\"\"Fused cross-entropy. Not a softmax.\"\"\"\n    tl.store(y, 1)"),
              ElementsAre("cross_entropy docstring:crossentropy", "loss docstring:crossentropy"));
}

TEST(TagsTest, ADirectionIsTheFirstNamesThatSaysOne) {
  EXPECT_THAT(Tags("softmax_bwd"), Contains("backward name:bwd"));
  EXPECT_THAT(Tags("softmax", "pass", "x", "softmax_backward.py"),
              Contains("backward file:backward"));
  EXPECT_THAT(Tags("softmax_fwd", "pass", "x", "softmax_backward.py"),
              ElementsAre("softmax name:softmax"));
}

TEST(TagsTest, ParametersTell) {
  EXPECT_THAT(Tags("k", "tl.store(x, tl.load(x))", "x, sorted_token_ids_ptr"),
              ElementsAre("moe parameter:sortedtokenids"));
  EXPECT_THAT(Tags("k", "tl.store(x, tl.load(x) * dropout_p)", "x, dropout_p"),
              ElementsAre("elementwise structure:stores_computed"));
}

TEST(TagsTest, OfCudaTheSame) {
  EXPECT_THAT(CudaTags("__global__ void add_bias(float* y, const float* x) { y[0] = x[0] + 1; }\n"),
              ElementsAre("elementwise structure:stores_computed"));
  EXPECT_THAT(CudaTags("__global__ void hgemm(float* y) { y[0] = 1; }\n"),
              ElementsAre("matmul name:hgemm"));
}

}  // namespace
}  // namespace kernelmill::extractor
