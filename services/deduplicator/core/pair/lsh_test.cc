#include "services/deduplicator/core/pair/lsh.h"

#include <gtest/gtest.h>

#include <vector>

namespace kernelmill::deduplicator {
namespace {

TEST(Bands, RowsFollowTheThreshold) {
  const struct {
    double threshold;
    int rows;
  } cases[] = {{0.01, 1}, {0.1, 1}, {0.3, 2}, {0.5, 2},   {0.6, 2},
               {0.65, 4}, {0.7, 4}, {0.9, 8}, {0.96, 16}, {1.0, 16}};
  for (const auto& test : cases) {
    const Bands bands = BandsFor(test.threshold);
    EXPECT_EQ(bands.rows, test.rows) << test.threshold;
    EXPECT_EQ(bands.rows * bands.count, 128) << test.threshold;
  }
}

TEST(Bands, TheSameValuesInAnotherBandAreAnotherBucket) {
  const std::vector<uint16_t> values = {1, 2, 3, 4};
  EXPECT_EQ(BucketKey(3, values), BucketKey(3, values));
  EXPECT_NE(BucketKey(3, values), BucketKey(4, values));
}

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
