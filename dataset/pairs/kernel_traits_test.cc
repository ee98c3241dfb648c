#include "dataset/pairs/kernel_traits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelmill::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(IdentifierWords, CapitalsAndMarksDivideWords) {
  EXPECT_THAT(IdentifierWords("_layer_norm_fwd"), ElementsAre("layer", "norm", "fwd"));
  EXPECT_THAT(IdentifierWords("fusedQKNormKernel"), ElementsAre("fused", "qk", "norm", "kernel"));
  EXPECT_THAT(IdentifierWords("ns::RMSNorm"), ElementsAre("ns", "rms", "norm"));
  EXPECT_THAT(IdentifierWords("__"), IsEmpty());
}

TEST(IdentifierWords, DigitsStayButForANumberAfterALongWord) {
  EXPECT_THAT(IdentifierWords("causal_conv1d_fp8"), ElementsAre("causal", "conv1d", "fp8"));
  EXPECT_THAT(IdentifierWords("LayerNormBackward2"), ElementsAre("layer", "norm", "backward"));
  EXPECT_THAT(IdentifierWords("gemm_a8w8"), ElementsAre("gemm", "a8w8"));
}

TEST(IdentifierWords, ALongNameHasItsFirstWords) {
  std::string name;
  for (int i = 0; i < 1000; ++i) name += "_w";
  EXPECT_THAT(IdentifierWords(name), SizeIs(32));
}

TEST(IdentifierWords, SynonymsFoldAndFillersSayNothing) {
  EXPECT_EQ(FoldSynonym("backward"), "bwd");
  EXPECT_EQ(FoldSynonym("act"), "activation");
  EXPECT_EQ(FoldSynonym("rotary"), "rope");
  EXPECT_EQ(FoldSynonym("zeta"), "zeta");
  EXPECT_TRUE(IsKnownCompound("layernorm"));
  EXPECT_TRUE(IsFiller("kernel"));
  EXPECT_TRUE(IsFiller("x"));
  EXPECT_FALSE(IsFiller("softmax"));
}

TEST(IdentifierWords, ParametersLoseWhatSaysHowTheyArePassed) {
  EXPECT_EQ(FoldParameter("x_ptr"), "x");
  EXPECT_EQ(FoldParameter("X"), "x");
  EXPECT_EQ(FoldParameter("stride_out_row"), "out_row");
  EXPECT_EQ(FoldParameter("BLOCK_SIZE"), "");
  EXPECT_EQ(FoldParameter("num_n"), "");
}

}  // namespace
}  // namespace kernelmill::dataset
