#include "services/validator/core/quality/code_facts.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill::validator {
namespace {

TEST(MaskCoverage, CountsLoadsAndStoresAndThoseThatAreMasked) {
  const v1::MaskCoverage masks =
      CoverMasks(ReadCode("a = tl.load(p, mask=m)\nb = tl.load(p, m, 0.0)\nc = tl.load(p)\n"
                          "d = tl.load(q, boundary_check=(0,))\ntl.store(p, a)\ntl.store(p, a, m)\n"
                          "tl.atomic_add(p, a)\ngl.amd.buffer_load(p, o, mask=m)\n"));
  EXPECT_EQ(masks.loads(), 5);
  EXPECT_EQ(masks.masked_loads(), 4);
  EXPECT_EQ(masks.stores(), 3);
  EXPECT_EQ(masks.masked_stores(), 1);
}

TEST(MaskCoverage, AKeywordOnAContinuedLineIsNoMaskInItsPlace) {
  const v1::MaskCoverage masks =
      CoverMasks(ReadCode("a = tl.load(p, \\\n  other=0.0)\nb = tl.load(p, \\\n  mask=m)\n"));
  EXPECT_EQ(masks.loads(), 2);
  EXPECT_EQ(masks.masked_loads(), 1);
}

TEST(MaskCoverage, DescriptorsAreCutAtTheBounds) {
  const v1::MaskCoverage masks =
      CoverMasks(ReadCode("tl._experimental_descriptor_load(d, [0], [8], "
                          "t)\ntl.experimental_descriptor_store(d, x, [0])"));
  EXPECT_EQ(masks.loads(), 1);
  EXPECT_EQ(masks.masked_loads(), 1);
  EXPECT_EQ(masks.stores(), 1);
  EXPECT_EQ(masks.masked_stores(), 1);
}

TEST(MaskCoverage, OtherThingsThatLoadDoNotCount) {
  const v1::MaskCoverage masks =
      CoverMasks(ReadCode("json.load(f)\nself.store(x)\ntorch.load(p)\n# tl.load(p)\n"));
  EXPECT_EQ(masks.loads(), 0);
  EXPECT_EQ(masks.stores(), 0);
}

TEST(IsGuarded, AsksForAComparisonInABranchOrLoop) {
  for (const std::string code : {"if (i < n) x = 1;", "for (int i = 0; i < n; ++i) {}",
                                 "while (f(i) >= 0) {}", "if (a && (b <= c)) {}"}) {
    EXPECT_TRUE(IsGuarded(code)) << code;
  }
  for (const std::string code :
       {"x = a < b;", "if (i == 0) x = vec<4>(a);", "// if (i < n)\n", "f(\"if (i < n)\");",
        "if (a) b = c < d;", "if constexpr (N > 4) {}", ")))(((if", ""}) {
    EXPECT_FALSE(IsGuarded(code)) << code;
  }
}

}  // namespace
}  // namespace kernelmill::validator
