#include "services/deduplicator/core/pair/sketch.h"

#include <gtest/gtest.h>

namespace kernelmill::deduplicator {
namespace {

TEST(CountAgreeing, CountsTheValuesThatAreEqual) {
  MinHashValues x{};
  for (int i = 0; i < kPermutations; ++i) x[i] = static_cast<uint16_t>(7 * i);
  MinHashValues y = x;
  for (int agreeing = kPermutations; agreeing >= 0; --agreeing) {
    EXPECT_EQ(CountAgreeing(SketchOf(x), SketchOf(y)), agreeing);
    if (agreeing > 0) y[agreeing - 1] ^= 1;
  }
}

TEST(SketchOf, KeepsTheLowerHalf) {
  MinHashValues values{};
  values[3] = 0xabcd;
  EXPECT_EQ(SketchOf(values)[3], 0xcd);
  EXPECT_EQ(SketchOf(values)[4], 0);
}

}  // namespace
}  // namespace kernelmill::deduplicator
