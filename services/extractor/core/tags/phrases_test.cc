#include "services/extractor/core/tags/phrases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kernelmill::extractor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(NameWordsTest, EndAtUnderscoresCapitalsAndDigits) {
  EXPECT_THAT(NameWords("_layer_norm_fwd"), ElementsAre("layer", "norm", "fwd"));
  EXPECT_THAT(NameWords("RMSNorm2D"), ElementsAre("rms", "norm", "2", "d"));
  EXPECT_THAT(NameWords("kQuantizeBlockwise"), ElementsAre("k", "quantize", "blockwise"));
  EXPECT_THAT(NameWords("fp8_gemm.kernel"), ElementsAre("fp", "8", "gemm", "kernel"));
  EXPECT_THAT(NameWords("\xc3\xa9_\xff"), IsEmpty());
}

TEST(NameWordsTest, AreSoManyAtMost) {
  std::string name;
  for (int i = 0; i < 1000; ++i) name += "a_";
  EXPECT_THAT(NameWords(name), SizeIs(64));
}

class PhrasesTest : public ::testing::Test {
 protected:
  PhrasesTest() {
    phrases_.Add("gemm", 1);
    phrases_.Add("norm", 2);
    phrases_.Add("layernorm", 3);
    phrases_.Add("expert", 4);
    phrases_.Add("fbgemm");
  }

  std::string In(absl::string_view name) const {
    std::string all;
    for (const Phrases::Found& found : phrases_.FindIn(NameWords(name))) {
      absl::StrAppend(&all, found.phrase, ":", absl::StrJoin(*found.numbers, ","), " ");
    }
    return all;
  }

  Phrases phrases_;
};

TEST_F(PhrasesTest, AreWholeWordsHoweverTheyAreWritten) {
  for (const absl::string_view name : {"layer_norm", "LayerNorm", "layernorm", "a_layerNorm_b"}) {
    EXPECT_EQ(In(name), "layernorm:3 ") << name;
  }
  EXPECT_EQ(In("hgemmx"), "");
  EXPECT_EQ(In("normal"), "");
}

TEST_F(PhrasesTest, TheLongestTakesItsWords) {
  EXPECT_EQ(In("layer_norm_norm"), "layernorm:3 norm:2 ");
  EXPECT_EQ(In("norm_layer_gemm"), "norm:2 gemm:1 ");
}

TEST_F(PhrasesTest, OneWithoutNumbersHidesWhatItsWordsMean) {
  EXPECT_EQ(In("fb_gemm_gemm"), "fbgemm: gemm:1 ");
}

TEST_F(PhrasesTest, APluralIsTheSame) {
  EXPECT_EQ(In("num_experts"), "expert:4 ");
  EXPECT_EQ(In("ass"), "");
}

}  // namespace
}  // namespace kernelmill::extractor
