#include "client/evaluate/statistics.h"

#include <gtest/gtest.h>

#include <bit>

namespace kernelmill::client {
namespace {

// The share of the draws of k of n samples in which one of the first c is.
double PassByCounting(int n, int c, int k) {
  int draws = 0;
  int passing = 0;
  for (unsigned drawn = 0; drawn < (1u << n); ++drawn) {
    if (std::popcount(drawn) != k) continue;
    ++draws;
    passing += (drawn & ((1u << c) - 1)) != 0;
  }
  return static_cast<double>(passing) / draws;
}

TEST(PassAtK, IsTheShareOfDrawsWithASampleThatPasses) {
  for (int n = 1; n <= 10; ++n) {
    for (int c = 0; c <= n; ++c) {
      for (int k = 1; k <= n; ++k) {
        EXPECT_NEAR(PassAtK(n, c, k), PassByCounting(n, c, k), 1e-12) << n << " " << c << " " << k;
      }
    }
  }
}

TEST(PassAtK, StaysExactForManySamples) {
  EXPECT_EQ(PassAtK(200, 0, 100), 0);
  EXPECT_EQ(PassAtK(200, 200, 1), 1);
  EXPECT_NEAR(PassAtK(10000, 1, 100), 0.01, 1e-12);
}

TEST(ComputeDistribution, InterpolatesQuantiles) {
  const Distribution values = ComputeDistribution({4, 1, 2, 3});
  EXPECT_EQ(values.mean, 2.5);
  EXPECT_EQ(values.min, 1);
  EXPECT_EQ(values.lower_quartile, 1.75);
  EXPECT_EQ(values.median, 2.5);
  EXPECT_EQ(values.upper_quartile, 3.25);
  EXPECT_EQ(values.max, 4);
  EXPECT_EQ(ComputeDistribution({7}).upper_quartile, 7);
  EXPECT_EQ(ComputeDistribution({}).median, 0);
}

TEST(BootstrapDifference, GivesTheSameIntervalForTheSameSeed) {
  std::vector<double> base;
  std::vector<double> tuned;
  for (int i = 0; i < 60; ++i) {
    base.push_back(i % 7 / 7.0);
    tuned.push_back(i % 5 / 5.0);
  }
  const Difference first = BootstrapDifference(base, tuned, 1);
  const Difference again = BootstrapDifference(base, tuned, 1);
  const Difference other = BootstrapDifference(base, tuned, 2);
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
  EXPECT_NE(first.low, other.low);
  EXPECT_LT(first.low, first.difference);
  EXPECT_GT(first.high, first.difference);
}

TEST(BootstrapDifference, IsNearTheNormalIntervalOfManyTasks) {
  // Differences of 1 and 0 in equal parts: a standard error of 0.5 / sqrt(400).
  const std::vector<double> base(400, 0);
  std::vector<double> tuned(400, 0);
  for (size_t i = 0; i < 200; ++i) tuned[i] = 1;
  const Difference found = BootstrapDifference(base, tuned, 7);
  EXPECT_EQ(found.difference, 0.5);
  EXPECT_NEAR(found.low, 0.5 - 1.96 * 0.025, 0.005);
  EXPECT_NEAR(found.high, 0.5 + 1.96 * 0.025, 0.005);
  EXPECT_TRUE(found.excludes_zero());
}

TEST(BootstrapDifference, PairsTasks) {
  // Each task gains the same: there is no doubt, however different the tasks are.
  const std::vector<double> base = {0, 0.5, 0.25};
  const std::vector<double> tuned = {0.25, 0.75, 0.5};
  const Difference found = BootstrapDifference(base, tuned, 7);
  EXPECT_EQ(found.low, 0.25);
  EXPECT_EQ(found.high, 0.25);
  EXPECT_FALSE(BootstrapDifference(base, base, 7).excludes_zero());
}

}  // namespace
}  // namespace kernelmill::client
