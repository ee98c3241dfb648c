#include "dataset/pairs/cuda_triton_matcher.h"

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
  kernel.set_source("signature {\n  first;\n  second;\n}\n");
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

CudaTritonMatcher Prepared(const std::vector<Made>& kernels, bool reversed = false) {
  CudaTritonMatcher matcher;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const size_t at = reversed ? kernels.size() - 1 - i : i;
    if (!CudaTritonMatcher::Takes(kernels[at].dsl)) continue;
    matcher.Add(static_cast<uint32_t>(at), ReadWords(MakeKernel(kernels[at])));
  }
  matcher.Prepare(InOrder);
  return matcher;
}

// "CUDA-TRITON" of each pair.
std::vector<std::string> Pairs(const CudaTritonMatcher& matcher) {
  std::vector<std::string> pairs;
  for (const ScoredPair& pair : matcher.FindCandidates()) {
    pairs.push_back(absl::StrCat(pair.cuda, "-", pair.triton));
  }
  return pairs;
}

using dsl::kCuda;
using dsl::kTriton;

TEST(CudaTritonMatcher, KernelsOfTheSameNameTagsAndParametersPair) {
  const CudaTritonMatcher matcher = Prepared({
      {kCuda, "softmax_kernel", "csrc/softmax.cu", "x,out,rows", "softmax"},
      {kTriton, "_softmax_kernel", "ops/softmax.py", "x_ptr,out_ptr,rows", "reduction!,softmax"},
      {kTriton, "_gelu_kernel", "ops/gelu.py", "x_ptr,out_ptr,rows", "activation"},
  });
  const std::vector<ScoredPair> pairs = matcher.FindCandidates();
  ASSERT_THAT(pairs, SizeIs(1));
  EXPECT_EQ(pairs[0].cuda, 0u);
  EXPECT_EQ(pairs[0].triton, 1u);
  EXPECT_EQ(pairs[0].score.total, 1000);
  EXPECT_EQ(pairs[0].score.operations, 1000);
  EXPECT_THAT(pairs[0].words, ElementsAre("softmax"));
  EXPECT_THAT(pairs[0].tags, ElementsAre("softmax"));
  EXPECT_THAT(pairs[0].parameters, ElementsAre("out", "rows", "x"));
}

TEST(CudaTritonMatcher, ALessExactNameIsNoOtherOperation) {
  const CudaTritonMatcher matcher = Prepared({
      {kCuda, "fused_layer_norm", "a.cu", "", "layer_norm,norm"},
      {kTriton, "fused_norm_layer", "b.py", "", "norm"},
  });
  EXPECT_EQ(matcher.ScorePair(0, 1).score.operations, 1000);
}

TEST(CudaTritonMatcher, SpellingsOfANameAreOne) {
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "LayerNormForward", "a.cu", "", ""},
                  {kTriton, "_layer_norm_fwd", "b.py", "", ""},
                  {kTriton, "layernorm_bwd", "c.py", "", ""},
              })),
              ElementsAre("0-1"));
}

TEST(CudaTritonMatcher, ABackwardPassIsNoTranslationOfAForwardOne) {
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "rope_backward", "rope.cu", "", "rope"},
                  {kTriton, "rope_kernel", "rope.py", "", "rope"},
                  {kTriton, "rope_fwd", "rope.py", "", "rope"},
                  {kTriton, "rope_bwd", "rope.py", "", "rope"},
              })),
              ElementsAre("0-3"));
}

TEST(CudaTritonMatcher, ADerivativeIsABackwardPass) {
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "d_gelu", "gelu.cu", "", ""},
                  {kTriton, "gelu_kernel", "gelu.py", "", ""},
                  {kTriton, "gelu_bwd", "gelu.py", "", ""},
              })),
              ElementsAre("0-2"));
}

TEST(CudaTritonMatcher, AKernelThatOnlyHandsOnIsInNoPair) {
  CudaTritonMatcher matcher;
  v1::Kernel cuda = MakeKernel({kCuda, "softmax", "a.cu", "", ""});
  cuda.set_source("signature {\n  other<int>(x);\n}\n");
  matcher.Add(0, ReadWords(cuda));
  matcher.Add(1, ReadWords(MakeKernel({kTriton, "softmax", "a.py", "", ""})));
  matcher.Prepare(InOrder);
  EXPECT_THAT(matcher.FindCandidates(), IsEmpty());
}

TEST(CudaTritonMatcher, ASingleSharedWordMustBeNearlyAll) {
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "compact_1d", "a.cu", "", ""},
                  {kTriton, "experts_compact", "a.py", "", ""},
                  {kCuda, "moe_sort_1d", "b.cu", "", ""},
                  {kTriton, "moe_sort_experts", "b.py", "", ""},
              })),
              ElementsAre("2-3"));
}

TEST(CudaTritonMatcher, AFilesNameSpeaksForAKernelWhoseOwnSaysLittle) {
  const CudaTritonMatcher matcher = Prepared({
      {kCuda, "forward_kernel", "csrc/softmax.cu", "", ""},
      {kTriton, "_fwd", "ops/softmax.py", "", ""},
      {kTriton, "_fwd", "ops/gelu.py", "", ""},
  });
  EXPECT_THAT(Pairs(matcher), ElementsAre("0-1"));
}

TEST(CudaTritonMatcher, DirectionsAloneMakeNoPair) {
  EXPECT_THAT(Pairs(Prepared({{kCuda, "forward_kernel", "a.cu", "", ""},
                              {kTriton, "_fwd_kernel", "b.py", "", ""}})),
              IsEmpty());
}

TEST(CudaTritonMatcher, AnotherOperationBesideItLowersTheScore) {
  const std::vector<Made> kernels = {
      {kCuda, "rms_norm", "a.cu", "", "norm"},
      {kTriton, "_rms_norm", "b.py", "", "norm"},
      {kTriton, "_rms_norm_quant", "b.py", "", "norm,quantization"},
  };
  EXPECT_THAT(Pairs(Prepared(kernels)), ElementsAre("0-1"));
  const CudaTritonMatcher matcher = Prepared(kernels);
  EXPECT_LT(matcher.ScorePair(0, 2).score.total, matcher.ScorePair(0, 1).score.total);
  EXPECT_LT(matcher.ScorePair(0, 2).score.operations, 1000);
}

TEST(CudaTritonMatcher, AStructOfParametersSaysNothingAgainstAPair) {
  const CudaTritonMatcher matcher = Prepared(
      {{kCuda, "softmax", "a.cu", "params", ""}, {kTriton, "softmax", "a.py", "x_ptr,y_ptr", ""}});
  EXPECT_EQ(matcher.ScorePair(0, 1).score.parameters, -1);
  EXPECT_EQ(matcher.ScorePair(0, 1).score.total, 1000);
}

TEST(CudaTritonMatcher, DeviceFunctionsAndOtherLanguagesAreNotPaired) {
  EXPECT_THAT(Pairs(Prepared({
                  {kCuda, "softmax", "a.cu", "", ""},
                  {kCuda, "gelu", "a.cu", "", "", v1::KERNEL_ROLE_DEVICE},
                  {kTriton, "softmax", "a.py", "", "", v1::KERNEL_ROLE_DEVICE},
                  {kTriton, "gelu", "a.py", "", ""},
                  {dsl::kGluon, "softmax", "a.py", "", ""},
              })),
              IsEmpty());
}

TEST(CudaTritonMatcher, AKernelHasAtMostThreePartnersTheFirstOfEquals) {
  std::vector<Made> kernels = {{kCuda, "softmax", "a.cu", "", ""}};
  for (int i = 0; i < 5; ++i) kernels.push_back({kTriton, "softmax", "a.py", "", ""});
  EXPECT_THAT(Pairs(Prepared(kernels)), ElementsAre("0-1", "0-2", "0-3"));
  for (Made& kernel : kernels) kernel.dsl = kernel.dsl == kCuda ? kTriton : kCuda;
  EXPECT_THAT(Pairs(Prepared(kernels)), ElementsAre("1-0", "2-0", "3-0"));
}

TEST(CudaTritonMatcher, TheOrderOfAddingDoesNotMatter) {
  std::vector<Made> kernels;
  for (const char* name : {"rms_norm", "softmax", "fused_gelu", "top_k", "rms_norm_quant"}) {
    kernels.push_back({kCuda, name, absl::StrCat(name, ".cu"), "x,y", "norm"});
    kernels.push_back({kTriton, absl::StrCat("_", name), absl::StrCat(name, ".py"), "x,z", "norm"});
  }
  EXPECT_EQ(Pairs(Prepared(kernels)), Pairs(Prepared(kernels, /*reversed=*/true)));
  EXPECT_THAT(Pairs(Prepared(kernels)), ElementsAre("0-1", "2-3", "4-5", "6-7", "8-9"));
}

TEST(CudaTritonMatcher, AWordOfMoreKernelsThanAreComparedFindsNone) {
  std::vector<Made> kernels = {{kCuda, "softmax", "x.cu", "", ""},
                               {kCuda, "gelu_softmax", "y.cu", "", ""}};
  for (size_t i = 0; i <= CudaTritonMatcher::kMaxCompared; ++i) {
    kernels.push_back({kTriton, "softmax", absl::StrCat("f", i, ".py"), "", ""});
  }
  kernels.push_back({kTriton, "gelu_softmax", "z.py", "", ""});
  EXPECT_THAT(Pairs(Prepared(kernels)), ElementsAre(absl::StrCat("1-", kernels.size() - 1)));
}

}  // namespace
}  // namespace kernelmill::dataset
