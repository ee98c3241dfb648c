#include "dataset/pairs/parallel_matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/dsl/names.h"

namespace kernelmill::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Made {
  std::string dsl;
  std::string name;
  std::string path;
  std::string parameters;  // comma-separated
  std::string tags;        // comma-separated; "tag" by name, "tag!" by a call
  v1::KernelRole role = v1::KERNEL_ROLE_KERNEL;
};

v1::Kernel MakeKernel(const Made& made) {
  v1::Kernel kernel;
  kernel.set_dsl(made.dsl);
  kernel.set_role(made.role);
  kernel.set_name(made.name);
  kernel.set_path(made.path);
  kernel.set_signature("signature");
  kernel.set_source("signature {\n  first = 1;\n  second;\n}\n");
  for (const auto& name : absl::StrSplit(made.parameters, ',', absl::SkipEmpty())) {
    kernel.add_parameters()->set_name(std::string(name));
  }
  for (const auto& word : absl::StrSplit(made.tags, ',', absl::SkipEmpty())) {
    const bool called = word.back() == '!';
    v1::Tag& tag = *kernel.add_tags();
    tag.set_name(std::string(word.substr(0, word.size() - called)));
    // A broader tag has the rule of the one that it comes with.
    const bool norm = word == "norm" || word == "layer_norm";
    tag.set_rule(called ? "call:sum" : absl::StrCat("name:", norm ? "layernorm" : word));
  }
  return kernel;
}

bool InOrder(uint32_t a, uint32_t b) { return a < b; }

ParallelMatcher Prepared(const std::vector<Made>& kernels, bool reversed = false) {
  ParallelMatcher matcher;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const size_t at = reversed ? kernels.size() - 1 - i : i;
    matcher.Add(static_cast<uint32_t>(at), ReadWords(MakeKernel(kernels[at])));
  }
  matcher.Prepare(InOrder);
  return matcher;
}

// "CUDA-TRITON" of each pair.
std::vector<std::string> Pairs(const ParallelMatcher& matcher) {
  std::vector<std::string> pairs;
  for (const ParallelPair& pair : matcher.FindPairs()) {
    pairs.push_back(absl::StrCat(pair.a, "-", pair.b));
  }
  return pairs;
}

using dsl::kCuda;
using dsl::kGluon;
using dsl::kTriton;

TEST(ParallelMatcher, KernelsOfTheSameNameTagsAndParametersPair) {
  const ParallelMatcher matcher = Prepared({
      {kCuda, "softmax_kernel", "csrc/softmax.cu", "x,out,rows", "softmax"},
      {kTriton, "_softmax_kernel", "ops/softmax.py", "x_ptr,out_ptr,rows", "reduction!,softmax"},
      {kTriton, "_gelu_kernel", "ops/gelu.py", "x_ptr,out_ptr,rows", "activation"},
  });
  const std::vector<ParallelPair> pairs = matcher.FindPairs();
  ASSERT_THAT(pairs, SizeIs(1));
  EXPECT_EQ(pairs[0].a, 0u);
  EXPECT_EQ(pairs[0].b, 1u);
  EXPECT_EQ(pairs[0].score.total, 1000);
  EXPECT_EQ(pairs[0].score.operations, 1000);
  EXPECT_THAT(pairs[0].words, ElementsAre("softmax"));
  EXPECT_THAT(pairs[0].tags, ElementsAre("softmax"));
  EXPECT_THAT(pairs[0].parameters, ElementsAre("out", "rows", "x"));
}

TEST(ParallelMatcher, ALessExactNameIsNoOtherOperation) {
  const ParallelMatcher matcher = Prepared({
      {kCuda, "fused_layer_norm", "a.cu", "", "layer_norm,norm"},
      {kTriton, "fused_norm_layer", "b.py", "", "norm"},
  });
  EXPECT_EQ(matcher.ScorePair(0, 1).score.operations, 1000);
}

TEST(ParallelMatcher, SpellingsOfANameAreOne) {
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "LayerNormForward", "a.cu", "", ""},
                  {kTriton, "_layer_norm_fwd", "b.py", "", ""},
                  {kTriton, "layernorm_bwd", "c.py", "", ""},
              })),
              ElementsAre("0-1"));
}

TEST(ParallelMatcher, ASharedTestRaisesTheScore) {
  KernelWords cuda = ReadWords(MakeKernel({kCuda, "rope", "a.cu", "x,y", ""}));
  KernelWords triton = ReadWords(MakeKernel({kTriton, "rope", "a.py", "u,v", ""}));
  const auto score = [&] {
    ParallelMatcher matcher;
    matcher.Add(0, cuda);
    matcher.Add(1, triton);
    matcher.Prepare(InOrder);
    return matcher.ScorePair(0, 1);
  };
  EXPECT_EQ(score().score.tests, -1);
  const int before = score().score.total;
  cuda.tests = {"t.py::test_rope", "t.py::test_all"};
  triton.tests = {"t.py::test_rope"};
  EXPECT_GT(score().score.total, before);
  EXPECT_THAT(score().tests, ElementsAre("t.py::test_rope"));
}

TEST(ParallelMatcher, ABackwardPassIsNoTranslationOfAForwardOne) {
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "rope_backward", "rope.cu", "", "rope"},
                  {kTriton, "rope_kernel", "rope.py", "", "rope"},
                  {kTriton, "rope_fwd", "rope.py", "", "rope"},
                  {kTriton, "rope_bwd", "rope.py", "", "rope"},
              })),
              ElementsAre("0-3"));
}

TEST(ParallelMatcher, ADerivativeIsABackwardPass) {
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "d_gelu", "gelu.cu", "", ""},
                  {kTriton, "gelu_kernel", "gelu.py", "", ""},
                  {kTriton, "gelu_bwd", "gelu.py", "", ""},
              })),
              ElementsAre("0-2"));
}

TEST(ParallelMatcher, AKernelThatOnlyHandsOnIsInNoPair) {
  for (const char* body : {"  other<int>(x);\n", "  Softmax<int> call;\n  call(x);\n"}) {
    ParallelMatcher matcher;
    v1::Kernel cuda = MakeKernel({kCuda, "softmax", "a.cu", "", ""});
    cuda.set_source(absl::StrCat("signature {\n", body, "}\n"));
    matcher.Add(0, ReadWords(cuda));
    matcher.Add(1, ReadWords(MakeKernel({kTriton, "softmax", "a.py", "", ""})));
    matcher.Prepare(InOrder);
    EXPECT_THAT(matcher.FindPairs(), IsEmpty()) << body;
  }
}

TEST(ParallelMatcher, AKernelWithAPartnerOfItsNameHasNoOther) {
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "copy_f32_q", "copy.cu", "", ""},
                  {kCuda, "copy_q_f32", "copy.cu", "", ""},
                  {"metal", "kernel_copy_f32_q", "copy.metal", "", ""},
                  {"metal", "kernel_copy_q_f32", "copy.metal", "", ""},
                  {"metal", "unary_negate_v2", "copy.metal", "", ""},
              })),
              ElementsAre("0-2", "1-3"));
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "unary_negate_g", "unary.cu", "", ""},
                  {"metal", "unary_negate_v2", "unary.metal", "", ""},
                  {"metal", "unary_negate_g", "unary.metal", "", ""},
              })),
              ElementsAre("0-2"));
}

TEST(ParallelMatcher, AnInputOfAnotherLayoutIsAnotherOperation) {
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "softmax_bwd", "csrc/softmax.cu", "", ""},
                  {kTriton, "softmax_bwd", "sparse_attention/softmax.py", "", ""},
                  {kCuda, "quant_int8_rows", "csrc/quant.cu", "", ""},
                  {kTriton, "quant_int8_rows", "ops/quant_rows_varlen.py", "", ""},
                  {kCuda, "pool_ragged_rows", "csrc/pool.cu", "", ""},
                  {kTriton, "pool_ragged_rows", "ragged/pool.py", "", ""},
              })),
              ElementsAre("4-5"));
}

TEST(ParallelMatcher, AFolderOfAnotherPrecisionIsAnotherOperation) {
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "moe_gather_rows", "csrc/moe_gather.cu", "", ""},
                  {kTriton, "moe_gather_rows", "fp8/moe_gather.py", "", ""},
                  {kCuda, "pool_rows_int8", "csrc/pool.cu", "", ""},
                  {kTriton, "pool_rows", "int8/pool.py", "", ""},
              })),
              ElementsAre("2-3"));
}

TEST(ParallelMatcher, OneSharedWordNeedsAPathOrALauncherThatFits) {
  const auto pairs = [](const std::string& folder, const std::string& launcher) {
    v1::Kernel cuda = MakeKernel({kCuda, "gemm_device", "tutorial/gemm.cu", "", "matmul"});
    v1::Kernel triton =
        MakeKernel({kTriton, "matmul_kernel", absl::StrCat(folder, "/gemm.py"), "", "matmul"});
    cuda.mutable_launcher()->set_qualname("dense_rows");
    triton.mutable_launcher()->set_qualname(launcher);
    ParallelMatcher matcher;
    matcher.Add(0, ReadWords(cuda));
    matcher.Add(1, ReadWords(triton));
    // A word that a quarter of the kernels have in their paths says nothing.
    for (uint32_t i = 2; i < 8; ++i) {
      matcher.Add(i, ReadWords(MakeKernel({kTriton, "other", "x/gemm.py", "", ""})));
    }
    matcher.Prepare(InOrder);
    return Pairs(matcher);
  };
  EXPECT_THAT(pairs("inference", "dense_rows_go"), ElementsAre("0-1"));
  EXPECT_THAT(pairs("inference", "sparse_rows_of_a_long_name"), IsEmpty());
  EXPECT_THAT(pairs("inference", "go"), IsEmpty());
}

TEST(ParallelMatcher, KernelsOfTwoTestsNeedASharedTag) {
  const auto pairs = [](const std::string& tag) {
    v1::Kernel gluon = MakeKernel({kGluon, "kernel", "unit/gluon/test_core.py", "", tag});
    v1::Kernel triton = MakeKernel({kTriton, "kernel", "unit/language/test_core.py", "", tag});
    gluon.set_qualname("test_tma_interleave.kernel");
    triton.set_qualname("test_interleave.kernel");
    ParallelMatcher matcher;
    matcher.Add(0, ReadWords(gluon));
    matcher.Add(1, ReadWords(triton));
    matcher.Prepare(InOrder);
    return Pairs(matcher);
  };
  EXPECT_THAT(pairs(""), IsEmpty());
  EXPECT_THAT(pairs("matmul!"), ElementsAre("0-1"));
}

TEST(ParallelMatcher, AWordThatTheOtherLacksIsAnotherOperation) {
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "moe_sort_rows", "a.cu", "", ""},
                  {kTriton, "moe_sort_rows_quant", "a.py", "", ""},
                  {kCuda, "add_rms_norm", "norm.cu", "", ""},
                  {kTriton, "rms_norm", "add_norm.py", "", ""},
              })),
              ElementsAre("2-3"));
}

TEST(ParallelMatcher, AKernelWhoseBestMatchDoesSomethingElseHasNoPair) {
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "moe_align_sort", "moe/align.cu", "x,y", ""},
                  {kTriton, "moe_align_sort_stage", "moe/align.py", "x,y", ""},
                  {kTriton, "align_sort", "moe/other/kernels.py", "u,v", ""},
              })),
              IsEmpty());
}

TEST(ParallelMatcher, AShortNameNeedsAFileThatFits) {
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "softmax_kernel", "csrc/softmax.cu", "", ""},
                  {kTriton, "softmax_kernel", "ops/softmax.py", "", ""},
                  {kCuda, "matmul_kernel", "csrc/matmul.cu", "", ""},
                  {kTriton, "matmul_kernel", "ops/mm_int8int2.py", "", ""},
              })),
              ElementsAre("0-1"));
}

TEST(ParallelMatcher, LettersAndVersionsTellVariantsApart) {
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "chunk_delta_fwd_h", "a.cu", "", ""},
                  {kTriton, "chunk_delta_fwd_kernel_o", "a.py", "", ""},
                  {kCuda, "paged_decode_v2", "b.cu", "", ""},
                  {kTriton, "paged_decode_v1", "b.py", "", ""},
                  {kCuda, "jagged_softmax", "c.cu", "", ""},
                  {kTriton, "jagged_2_softmax", "c.py", "", ""},
              })),
              IsEmpty());
}

TEST(ParallelMatcher, NamesOfLanguagesChipsAndSchedulesAreNoWords) {
  EXPECT_THAT(Pairs(Prepared({
                  {"cutile", "_rms_norm_fwd_kernel_ct", "ops/cutile/ops/rms_norm.py", "", ""},
                  {kTriton, "_block_rms_norm_forward_kernel", "ops/rms_norm.py", "", ""},
                  {"cute", "rms_norm_fwd_sm90_vectorized", "ops/cute/rms_norm_sm90.py", "", ""},
              })),
              ElementsAre("2-0", "2-1", "0-1"));
}

TEST(ParallelMatcher, AMethodHasTheNameOfItsClass) {
  const auto made = [](const std::string& name, const std::string& scope, const std::string& dsl) {
    v1::Kernel kernel = MakeKernel({dsl, name, "attn.py", "", ""});
    kernel.set_qualname(scope + name);
    return ReadWords(kernel);
  };
  ParallelMatcher matcher;
  matcher.Add(0, made("kernel", "FlashAttentionBackwardSm80.", "cute"));
  matcher.Add(1, made("kernel", "SplitScheduler.", "cute"));
  matcher.Add(2, made("flash_attention_bwd", "", kTriton));
  matcher.Prepare(InOrder);
  EXPECT_THAT(Pairs(matcher), ElementsAre("0-2"));
  EXPECT_EQ(matcher.FindPairs()[0].operation, "flash_attn");
  EXPECT_TRUE(matcher.FindPairs()[0].backward);
}

TEST(ParallelMatcher, TheLauncherAndTheFoldersDecideBetweenEquals) {
  const auto made = [](const std::string& dsl, const std::string& path,
                       const std::string& launcher) {
    v1::Kernel kernel = MakeKernel({dsl, "chunk_fwd", path, "", ""});
    kernel.mutable_launcher()->set_qualname(launcher);
    return ReadWords(kernel);
  };
  ParallelMatcher matcher;
  matcher.Add(0, made("tilelang", "ops/dplr/backends/tilelang/chunk.py", "chunk_dplr_tilelang"));
  matcher.Add(1, made(kTriton, "ops/iplr/chunk.py", "chunk_iplr"));
  matcher.Add(2, made(kTriton, "ops/dplr/chunk.py", "chunk_dplr"));
  matcher.Prepare(InOrder);
  EXPECT_THAT(Pairs(matcher), ElementsAre("0-2"));
  EXPECT_THAT(matcher.FindPairs()[0].launcher, ElementsAre("chunk", "dplr"));
}

TEST(ParallelMatcher, AFilesNameSpeaksForAKernelWhoseOwnSaysLittle) {
  const ParallelMatcher matcher = Prepared({
      {kCuda, "forward_kernel", "csrc/softmax.cu", "", ""},
      {kTriton, "_fwd", "ops/softmax.py", "", ""},
      {kTriton, "_fwd", "ops/gelu.py", "", ""},
  });
  EXPECT_THAT(Pairs(matcher), ElementsAre("0-1"));
}

TEST(ParallelMatcher, DirectionsAloneMakeNoPair) {
  EXPECT_THAT(Pairs(Prepared({{kCuda, "forward_kernel", "a.cu", "", ""},
                              {kTriton, "_fwd_kernel", "b.py", "", ""}})),
              IsEmpty());
}

TEST(ParallelMatcher, AnotherOperationBesideItLowersTheScore) {
  const std::vector<Made> kernels = {
      {kCuda, "rms_norm", "a.cu", "", "norm"},
      {kTriton, "_rms_norm", "b.py", "", "norm"},
      {kTriton, "_rms_norm_quant", "b.py", "", "norm,quantization"},
  };
  EXPECT_THAT(Pairs(Prepared(kernels)), ElementsAre("0-1"));
  const ParallelMatcher matcher = Prepared(kernels);
  EXPECT_LT(matcher.ScorePair(0, 2).score.total, matcher.ScorePair(0, 1).score.total);
  EXPECT_LT(matcher.ScorePair(0, 2).score.operations, 1000);
}

TEST(ParallelMatcher, AStructOfParametersSaysNothingAgainstAPair) {
  const ParallelMatcher matcher = Prepared(
      {{kCuda, "softmax", "a.cu", "params", ""}, {kTriton, "softmax", "a.py", "x_ptr,y_ptr", ""}});
  EXPECT_EQ(matcher.ScorePair(0, 1).score.parameters, -1);
  EXPECT_EQ(matcher.ScorePair(0, 1).score.total, 1000);
}

TEST(ParallelMatcher, DeviceFunctionsAndKernelsOfOneLanguageAreNotPaired) {
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "softmax", "a.cu", "", ""},
                  {kCuda, "gelu", "a.cu", "", "", v1::KERNEL_ROLE_DEVICE},
                  {kTriton, "softmax", "a.py", "", "", v1::KERNEL_ROLE_DEVICE},
                  {kTriton, "gelu", "a.py", "", ""},
                  {kTriton, "softmax", "b/vendor/a.py", "", "", v1::KERNEL_ROLE_DEVICE},
                  {kGluon, "top_k", "a.py", "", ""},
                  {kGluon, "top_k", "vendor/a.py", "", ""},
              })),
              IsEmpty());
}

TEST(ParallelMatcher, AKernelHasAtMostThreePartnersTheFirstOfEquals) {
  std::vector<Made> kernels = {{kCuda, "softmax", "a.cu", "", ""}};
  for (int i = 0; i < 5; ++i) kernels.push_back({kTriton, "softmax", "a.py", "", ""});
  EXPECT_THAT(Pairs(Prepared(kernels)), ElementsAre("0-1", "0-2", "0-3"));
  for (Made& kernel : kernels) kernel.dsl = kernel.dsl == kCuda ? kTriton : kCuda;
  EXPECT_THAT(Pairs(Prepared(kernels)), ElementsAre("1-0", "2-0", "3-0"));
}

TEST(ParallelMatcher, TheOrderOfAddingDoesNotMatter) {
  std::vector<Made> kernels;
  for (const char* name : {"rms_norm", "softmax", "fused_gelu", "top_k", "rms_norm_quant"}) {
    kernels.push_back({kCuda, name, absl::StrCat(name, ".cu"), "x,y", "norm"});
    kernels.push_back({kTriton, absl::StrCat("_", name), absl::StrCat(name, ".py"), "x,z", "norm"});
  }
  EXPECT_EQ(Pairs(Prepared(kernels)), Pairs(Prepared(kernels, /*reversed=*/true)));
  EXPECT_THAT(Pairs(Prepared(kernels)), ElementsAre("0-1", "2-3", "4-5", "6-7", "8-9"));
}

TEST(ParallelMatcher, AWordOfMoreKernelsThanAreComparedFindsNone) {
  std::vector<Made> kernels = {{kCuda, "softmax", "x.cu", "", ""},
                               {kCuda, "gelu_softmax", "y.cu", "", ""}};
  for (size_t i = 0; i <= ParallelMatcher::kMaxCompared; ++i) {
    kernels.push_back({kTriton, "softmax", absl::StrCat("f", i, ".py"), "", ""});
  }
  kernels.push_back({kTriton, "gelu_softmax", "z.py", "", ""});
  EXPECT_THAT(Pairs(Prepared(kernels)), ElementsAre(absl::StrCat("1-", kernels.size() - 1)));
}

}  // namespace
}  // namespace kernelmill::dataset
