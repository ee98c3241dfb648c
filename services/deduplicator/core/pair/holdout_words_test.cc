#include "services/deduplicator/core/pair/holdout_words.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace kernelmill::deduplicator {
namespace {

v1::KernelShingles Text(uint64_t first, uint64_t count,
                        v1::Sensitive::Text text = v1::Sensitive::TEXT_UNSPECIFIED) {
  v1::KernelShingles shingles;
  v1::WordRuns* words = shingles.add_words();
  words->set_text(text);
  for (uint64_t run = first; run < first + count; ++run) words->add_runs(run);
  return shingles;
}

std::vector<v1::HoldoutMatch> Match(HoldoutWords& holdouts, const v1::KernelShingles& text) {
  std::vector<v1::HoldoutMatch> matches;
  holdouts.Match(text, &matches);
  return matches;
}

TEST(HoldoutWords, FileOfAHoldoutIsFoundInAnyText) {
  HoldoutWords holdouts;
  holdouts.Add(7, Text(0, 100));
  holdouts.Add(8, Text(1000, 100));
  const auto matches = Match(holdouts, Text(50, 500, v1::Sensitive::TEXT_MODULE));
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(matches[0].holdout(), 7u);
  EXPECT_EQ(matches[0].text(), v1::Sensitive::TEXT_MODULE);
  EXPECT_TRUE(matches[0].words());
  EXPECT_EQ(matches[0].runs_common(), 50u);
  EXPECT_EQ(matches[0].runs_holdout(), 100u);
  EXPECT_EQ(matches[0].runs_text(), 500u);
  EXPECT_EQ(matches[0].runs_covered(), 50u);
  EXPECT_TRUE(Match(holdouts, Text(5000, 100)).empty());
}

TEST(HoldoutWords, EqualTextsAreOneWithCopies) {
  HoldoutWords holdouts;
  holdouts.Add(7, Text(0, 100));
  holdouts.Add(8, Text(0, 100));
  const auto matches = Match(holdouts, Text(0, 100));
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(matches[0].copies(), 2);
}

// A run that all problems of a benchmark have is no sign of one of them.
TEST(HoldoutWords, FrameOfABenchmarkIsAnybodys) {
  HoldoutWords holdouts;
  for (uint32_t i = 0; i < kCommonTexts; ++i) {
    v1::KernelShingles text = Text(0, 100);
    for (uint64_t run = 0; run < 40; ++run) text.mutable_words(0)->add_runs(1000 * (i + 1) + run);
    holdouts.Add(i, text);
  }
  EXPECT_TRUE(Match(holdouts, Text(0, 100)).empty());
  v1::KernelShingles copy = Text(0, 100);
  for (uint64_t run = 0; run < 40; ++run) copy.mutable_words(0)->add_runs(3000 + run);
  const auto matches = Match(holdouts, copy);
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(matches[0].holdout(), 2u);
  EXPECT_EQ(matches[0].runs_common(), 40u);
  EXPECT_EQ(matches[0].runs_holdout(), 40u);
  EXPECT_EQ(matches[0].runs_text(), 40u);
}

TEST(HoldoutWords, KernelsOfAHoldoutAreLeftToTheirFiles) {
  HoldoutWords holdouts;
  holdouts.Add(7, Text(0, 100, v1::Sensitive::TEXT_SOURCE));
  EXPECT_TRUE(Match(holdouts, Text(0, 100)).empty());
}

}  // namespace
}  // namespace kernelmill::deduplicator
