#include "services/validator/core/license/text/word_diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kernelmill::validator {
namespace {

using Words = std::vector<uint16_t>;

constexpr size_t kNoLimit = 1 << 30;

// How many words the runs have in common; checks that they are common, and in order.
size_t Common(const Words& a, const Words& b, size_t max_edits = 1000) {
  size_t steps = 0;
  std::vector<EqualRun> runs;
  if (!DiffWords(a, b, max_edits, kNoLimit, &steps, &runs)) return SIZE_MAX;
  size_t common = 0;
  size_t end_a = 0;
  size_t end_b = 0;
  for (const EqualRun& run : runs) {
    EXPECT_GE(run.at_a, end_a);
    EXPECT_GE(run.at_b, end_b);
    end_a = run.at_a + run.size;
    end_b = run.at_b + run.size;
    EXPECT_LE(end_a, a.size());
    EXPECT_LE(end_b, b.size());
    EXPECT_TRUE(std::equal(a.begin() + run.at_a, a.begin() + end_a, b.begin() + run.at_b));
    common += run.size;
  }
  return common;
}

size_t LongestCommon(const Words& a, const Words& b) {
  std::vector<std::vector<size_t>> best(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      best[i + 1][j + 1] = a[i] == b[j] ? best[i][j] + 1 : std::max(best[i][j + 1], best[i + 1][j]);
    }
  }
  return best[a.size()][b.size()];
}

TEST(WordDiffTest, EqualTextsAreOneRun) {
  EXPECT_EQ(Common({1, 2, 3}, {1, 2, 3}, 0), 3u);
  EXPECT_EQ(Common({}, {}, 0), 0u);
  EXPECT_EQ(Common({}, {1, 2}), 0u);
  EXPECT_EQ(Common({1}, {}), 0u);
}

TEST(WordDiffTest, EditsAreAsFewAsCanBe) {
  uint32_t state = 1;
  for (int round = 0; round < 300; ++round) {
    Words a;
    Words b;
    for (int i = 0; i < 40; ++i) {
      state = state * 1664525 + 1013904223;
      if (state >> 31) a.push_back(state >> 24 & 3);
      if (state >> 30 & 1) b.push_back(state >> 20 & 3);
    }
    EXPECT_EQ(Common(a, b), LongestCommon(a, b));
  }
}

TEST(WordDiffTest, TooManyEditsOrStepsAreGivenUp) {
  EXPECT_EQ(Common({1, 2, 3}, {4, 5, 6}, 5), SIZE_MAX);
  EXPECT_EQ(Common({1, 2, 3}, {4, 5, 6}, 6), 0u);
  size_t steps = 0;
  std::vector<EqualRun> runs;
  EXPECT_FALSE(DiffWords(Words(1000, 1), Words(1000, 2), 2000, 5000, &steps, &runs));
}

}  // namespace
}  // namespace kernelmill::validator
